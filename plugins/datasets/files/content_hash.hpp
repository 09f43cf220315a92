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

/// 16 hexadecimal digits.
[[nodiscard]] std::string hex(uint64_t hash);

}  // namespace tenon::datasets
