// A fast hash of data: fingerprints, and keys that do not depend on where a sample lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tenon::datasets {

/// XXH64 (Collet, "xxHash fast digest algorithm", specification 0.1.1): the same number on every machine. No defence
/// against somebody who looks for equal hashes.
[[nodiscard]] uint64_t content_hash(std::span<const std::byte> data, uint64_t seed = 0) noexcept;

/// Of all the data up to 64 MiB; of more, of its size and 16,384 pieces of 4 KiB at even distances, the first and the last
/// among them: files that are larger than memory shall be opened at once.
[[nodiscard]] uint64_t sampled_hash(std::span<const std::byte> data) noexcept;

/// 16 hexadecimal digits.
[[nodiscard]] std::string hex(uint64_t hash);

}  // namespace tenon::datasets
