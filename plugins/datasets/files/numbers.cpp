// One case a type.
#include <files/numbers.hpp>

#include <cstdint>
#include <cstring>

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

}  // namespace tenon::datasets
