// One case a type.
#include <files/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tenon::datasets {

bool has_numbers(Dtype dtype) noexcept { return dtype != Dtype::kFloat16 && dtype != Dtype::kBfloat16; }

double number_at(const std::byte* from, Dtype dtype) noexcept {
  const auto number = [&]<class T>(T value) {
    std::memcpy(&value, from, sizeof(T));
    return static_cast<double>(value);
  };
  switch (dtype) {
    case Dtype::kBool:
    case Dtype::kUint8: return number(uint8_t{});
    case Dtype::kInt8: return number(int8_t{});
    case Dtype::kInt16: return number(int16_t{});
    case Dtype::kInt32: return number(int32_t{});
    case Dtype::kInt64: return number(int64_t{});
    case Dtype::kFloat32: return number(float{});
    case Dtype::kFloat64: return number(double{});
    case Dtype::kFloat16:
    case Dtype::kBfloat16: break;
  }
  return 0;
}

std::optional<std::vector<std::byte>> bytes_of_number(double number, Dtype dtype) {
  constexpr double kMostExact = 0x1.0p53;
  const auto bytes = [&]<class T>(T value) -> std::optional<std::vector<std::byte>> {
    if constexpr (std::integral<T>) {
      const double least = std::max(-kMostExact, static_cast<double>(std::numeric_limits<T>::min()));
      const double most = std::min(kMostExact, static_cast<double>(std::numeric_limits<T>::max()));
      if (!(number >= least && number <= most) || number != std::trunc(number)) return std::nullopt;
    }
    value = static_cast<T>(number);
    std::vector<std::byte> all(sizeof(T));
    std::memcpy(all.data(), &value, sizeof(T));
    return all;
  };
  switch (dtype) {
    case Dtype::kBool:
    case Dtype::kUint8: return bytes(uint8_t{});
    case Dtype::kInt8: return bytes(int8_t{});
    case Dtype::kInt16: return bytes(int16_t{});
    case Dtype::kInt32: return bytes(int32_t{});
    case Dtype::kInt64: return bytes(int64_t{});
    case Dtype::kFloat32:
      if (std::isnan(number) || std::abs(number) > std::numeric_limits<float>::max()) return std::nullopt;
      return bytes(float{});
    case Dtype::kFloat64:
      if (std::isnan(number)) return std::nullopt;
      return bytes(double{});
    case Dtype::kFloat16:
    case Dtype::kBfloat16: break;
  }
  return std::nullopt;
}

}  // namespace tenon::datasets
