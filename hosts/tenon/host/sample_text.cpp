// Elements by type.
#include <host/sample_text.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/scalars.hpp>

namespace tenon::host {
namespace {

template <class T>
T element(const engine::ShownValue& value, std::size_t i) {
  T number;
  std::memcpy(&number, value.bytes.data() + i * sizeof(T), sizeof(T));
  return number;
}

/// IEEE 754 binary16.
double half(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1F) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 0x400, exponent - 25));
}

double number(Dtype dtype, const engine::ShownValue& value, std::size_t i) {
  switch (dtype) {
    case Dtype::kBool:
    case Dtype::kUint8: return element<uint8_t>(value, i);
    case Dtype::kInt8: return element<int8_t>(value, i);
    case Dtype::kInt16: return element<int16_t>(value, i);
    case Dtype::kInt32: return element<int32_t>(value, i);
    case Dtype::kInt64: return static_cast<double>(element<int64_t>(value, i));
    case Dtype::kFloat16: return half(element<uint16_t>(value, i));
    case Dtype::kBfloat16: return std::bit_cast<float>(static_cast<uint32_t>(element<uint16_t>(value, i)) << 16U);
    case Dtype::kFloat32: return element<float>(value, i);
    case Dtype::kFloat64: return element<double>(value, i);
  }
  return 0;
}

std::string number_text(const engine::ShownField& field, double value) {
  const auto names = static_cast<double>(field.categories.size());
  if (value >= 0 && value < names && std::floor(value) == value) {
    return field.categories[static_cast<std::size_t>(value)];
  }
  return std::floor(value) == value && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.4g}", value);
}

}  // namespace

bool is_text(const FieldSpec& field) noexcept {
  return field.dtype == Dtype::kUint8 && field.shape.size() == 1 && !field.shape.front().fixed();
}

std::vector<double> numbers_of(const FieldSpec& field, const engine::ShownValue& value, std::size_t most) {
  const std::size_t kept = value.bytes.size() / size_of(field.dtype);  // of a reduced sample, the beginning
  std::vector<double> numbers(std::min({static_cast<std::size_t>(elements(value.shape)), most, kept}));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number(field.dtype, value, i);
  return numbers;
}

std::string value_text(const engine::ShownField& field, const engine::ShownValue& value, std::size_t most_numbers) {
  if (is_text(field.field)) {
    std::string text(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return text;
  }
  const auto all = static_cast<std::size_t>(elements(value.shape));
  std::vector<std::string> texts;
  for (const double each : numbers_of(field.field, value, most_numbers)) texts.push_back(number_text(field, each));
  const std::string joined = fmt::format("{}", fmt::join(texts, " "));
  return all > most_numbers ? fmt::format("{} … ({})", joined, all) : joined;
}

}  // namespace tenon::host
