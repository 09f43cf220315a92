// Elements of arrays as numbers and as text, without libtorch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <tenon/array.hpp>

namespace tenon::core {

/// Element `index` of the array in row-major order. Exact for all types but int64 beyond 2^53, which is rounded.
[[nodiscard]] double element_value(const Array& array, int64_t index);

/// The shortest text that reads back as the element: "0.1", "-7", "true", "nan".
[[nodiscard]] std::string element_text(const Array& array, int64_t index);

/// "[3, 0]": the place of element `index` in an array of that shape.
[[nodiscard]] std::string place_text(std::span<const int64_t> shape, int64_t index);

/// "float32[640, 3]"
[[nodiscard]] std::string type_text(const Array& array);

/// Over all elements that are finite; nothing where there is none.
struct ElementStatistics {
  struct Finite {
    double min = 0;
    double max = 0;
    double mean = 0;
  };
  std::optional<Finite> finite;
  int64_t non_finite = 0;
};

[[nodiscard]] ElementStatistics statistics_of(const Array& array);

}  // namespace tenon::core
