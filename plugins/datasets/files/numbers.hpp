// Single numbers of any type, as double.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <tenon/array.hpp>

namespace tenon::datasets {

/// Whether number_at() can tell numbers of this type: all but those of 16 bits with a point.
[[nodiscard]] bool has_numbers(Dtype dtype) noexcept;

/// The number at `from`, which need not be aligned. Whole numbers up to 2^53 are exact.
[[nodiscard]] double number_at(const std::byte* from, Dtype dtype) noexcept;

/// The bytes of a number of that type, as number_at() reads them; nothing for one that the type, or a double, cannot hold
/// exactly.
[[nodiscard]] std::optional<std::vector<std::byte>> bytes_of_number(double number, Dtype dtype);

}  // namespace tenon::datasets
