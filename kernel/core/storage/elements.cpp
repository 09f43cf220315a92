// Decoding of element types.
#include <core/storage/elements.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon::core {
namespace {

template <class T>
T load(const Array& array, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(array.data) + static_cast<std::size_t>(index) * sizeof(T),
              sizeof(T));
  return value;
}

/// The upper half of a float32.
float bfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16U); }

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
float float16(uint16_t bits) {
  const uint32_t exponent = (bits >> 10U) & 0x1FU;
  const auto fraction = static_cast<float>(bits & 0x3FFU);
  const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1FU) {
    return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024.0F, static_cast<int>(exponent) - 25);
}

/// Calls `use` with the element in its own type, the 16-bit floats widened.
template <class Use>
auto with_element(const Array& array, int64_t index, const Use& use) {
  switch (array.dtype) {
    case Dtype::kBool: return use(load<uint8_t>(array, index) != 0);
    case Dtype::kUint8: return use(load<uint8_t>(array, index));
    case Dtype::kInt8: return use(load<int8_t>(array, index));
    case Dtype::kInt16: return use(load<int16_t>(array, index));
    case Dtype::kInt32: return use(load<int32_t>(array, index));
    case Dtype::kInt64: return use(load<int64_t>(array, index));
    case Dtype::kFloat16: return use(float16(load<uint16_t>(array, index)));
    case Dtype::kBfloat16: return use(bfloat16(load<uint16_t>(array, index)));
    case Dtype::kFloat32: return use(load<float>(array, index));
    case Dtype::kFloat64: break;
  }
  return use(load<double>(array, index));
}

}  // namespace

double element_value(const Array& array, int64_t index) {
  return with_element(array, index, [](auto value) { return static_cast<double>(value); });
}

std::string element_text(const Array& array, int64_t index) {
  return with_element(array, index, [](auto value) { return fmt::format("{}", value); });
}

std::string place_text(std::span<const int64_t> shape, int64_t index) {
  std::vector<int64_t> place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(place, ", "));
}

std::string type_text(const Array& array) {
  return fmt::format("{}[{}]", name_of(array.dtype), fmt::join(array.shape, ", "));
}

ElementStatistics statistics_of(const Array& array) {
  ElementStatistics statistics;
  const int64_t count = array.elements();
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = element_value(array, i);
    if (!std::isfinite(value)) {
      ++statistics.non_finite;
      continue;
    }
    if (!statistics.finite) statistics.finite = {value, value, 0};
    statistics.finite->min = std::min(statistics.finite->min, value);
    statistics.finite->max = std::max(statistics.finite->max, value);
    sum += value;
  }
  if (statistics.finite) statistics.finite->mean = sum / static_cast<double>(count - statistics.non_finite);
  return statistics;
}

}  // namespace tenon::core
