// Numbers of several types, read in one way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tenon/array.hpp>
#include <tenon/error.hpp>

namespace tenon::transforms {

/// The types that `with_elements` reads: all but floats of 16 bits.
[[nodiscard]] inline std::vector<Dtype> number_types() {
  return {Dtype::kBool,  Dtype::kUint8, Dtype::kInt8,    Dtype::kInt16,
          Dtype::kInt32, Dtype::kInt64, Dtype::kFloat32, Dtype::kFloat64};
}

[[nodiscard]] inline bool is_number(Dtype dtype) { return dtype != Dtype::kFloat16 && dtype != Dtype::kBfloat16; }

[[nodiscard]] inline std::vector<Dtype> integer_types() {
  return {Dtype::kUint8, Dtype::kInt8, Dtype::kInt16, Dtype::kInt32, Dtype::kInt64};
}

[[nodiscard]] inline bool is_integer(Dtype dtype) {
  return is_number(dtype) && dtype != Dtype::kBool && dtype != Dtype::kFloat32 && dtype != Dtype::kFloat64;
}

/// Calls `use` with the elements as a span of their own type. \throws Error (kData) for a type that is not read.
template <class Use>
void with_elements(const Array& array, const Use& use) {
  switch (array.dtype) {
    case Dtype::kBool: return use(array.as<bool>());
    case Dtype::kUint8: return use(array.as<uint8_t>());
    case Dtype::kInt8: return use(array.as<int8_t>());
    case Dtype::kInt16: return use(array.as<int16_t>());
    case Dtype::kInt32: return use(array.as<int32_t>());
    case Dtype::kInt64: return use(array.as<int64_t>());
    case Dtype::kFloat32: return use(array.as<float>());
    case Dtype::kFloat64: return use(array.as<double>());
    default: throw Error(ErrorCode::kData, "cannot read numbers of the type " + std::string(name_of(array.dtype)));
  }
}

/// The value of a scalar of an integer type. \throws Error (kData) for another type.
[[nodiscard]] inline int64_t integer_of(const Array& scalar) {
  if (!is_integer(scalar.dtype)) {
    throw Error(ErrorCode::kData, std::string(name_of(scalar.dtype)) + " is no type of whole numbers");
  }
  int64_t value = 0;
  with_elements(scalar, [&](const auto& elements) {
    value = static_cast<int64_t>(elements[0]);  // NOLINT(bugprone-signed-char-misuse): int8 is a number here
  });
  return value;
}

}  // namespace tenon::transforms
