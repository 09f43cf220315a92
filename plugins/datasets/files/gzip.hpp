// Data packed by gzip.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tenon::datasets {

/// True when the data begins like that of gzip (RFC 1952).
[[nodiscard]] bool is_gzip(std::span<const std::byte> data) noexcept;

/// The unpacked data, of all members. \throws Error (kData) with `name` and `pointer` where it is damaged or cut off.
[[nodiscard]] std::vector<std::byte> gunzip(std::span<const std::byte> data, const std::string& name,
                                            const std::string& pointer);

}  // namespace tenon::datasets
