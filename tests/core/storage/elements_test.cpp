// Elements of every type as numbers and text.
#include <core/storage/elements.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

/// The elements in memory that has no alignment of its own.
template <class T>
class Values {
 public:
  Values(Dtype dtype, const std::vector<T>& values) : bytes_(values.size() * sizeof(T) + 1), dtype_(dtype) {
    if (!values.empty()) std::memcpy(bytes_.data() + 1, values.data(), values.size() * sizeof(T));
    shape_ = {static_cast<int64_t>(values.size())};
  }
  [[nodiscard]] Array array() { return {bytes_.data() + 1, dtype_, shape_}; }

 private:
  std::vector<std::byte> bytes_;
  Shape shape_;
  Dtype dtype_;
};

TEST(Elements, of_integers_and_booleans_are_exact) {
  EXPECT_EQ(element_text(Values<uint8_t>(Dtype::kBool, {0, 1}).array(), 1), "true");
  EXPECT_EQ(element_text(Values<uint8_t>(Dtype::kUint8, {0, 255}).array(), 1), "255");
  EXPECT_EQ(element_text(Values<int8_t>(Dtype::kInt8, {-128}).array(), 0), "-128");
  EXPECT_EQ(element_text(Values<int16_t>(Dtype::kInt16, {-30000}).array(), 0), "-30000");
  EXPECT_EQ(element_text(Values<int32_t>(Dtype::kInt32, {-2'000'000'000}).array(), 0), "-2000000000");
  EXPECT_EQ(element_text(Values<int64_t>(Dtype::kInt64, {INT64_MAX}).array(), 0), "9223372036854775807");
  EXPECT_EQ(element_value(Values<int8_t>(Dtype::kInt8, {-128}).array(), 0), -128);
  EXPECT_EQ(element_value(Values<uint8_t>(Dtype::kBool, {1}).array(), 0), 1);
}

TEST(Elements, of_floats_have_their_shortest_text) {
  EXPECT_EQ(element_text(Values<float>(Dtype::kFloat32, {0.1F}).array(), 0), "0.1");
  EXPECT_EQ(element_text(Values<double>(Dtype::kFloat64, {0.1}).array(), 0), "0.1");
  EXPECT_EQ(element_value(Values<float>(Dtype::kFloat32, {0.1F}).array(), 0), static_cast<double>(0.1F));
}

/// IEEE 754 binary16, table of well-known encodings.
TEST(Elements, of_float16_are_decoded) {
  const std::vector<std::pair<uint16_t, double>> table{{0x3C00, 1},
                                                       {0xC000, -2},
                                                       {0x7BFF, 65504},
                                                       {0x0400, std::ldexp(1, -14)},
                                                       {0x0001, std::ldexp(1, -24)},
                                                       {0x03FF, std::ldexp(1023, -24)},
                                                       {0x3555, 0.333251953125},
                                                       {0x0000, 0},
                                                       {0x7C00, HUGE_VAL},
                                                       {0xFC00, -HUGE_VAL}};
  for (const auto& [bits, value] : table) {
    EXPECT_EQ(element_value(Values<uint16_t>(Dtype::kFloat16, {bits}).array(), 0), value) << bits;
  }
  EXPECT_TRUE(std::signbit(element_value(Values<uint16_t>(Dtype::kFloat16, {0x8000}).array(), 0)));
  EXPECT_TRUE(std::isnan(element_value(Values<uint16_t>(Dtype::kFloat16, {0x7E00}).array(), 0)));
}

TEST(Elements, of_bfloat16_are_decoded) {
  const std::vector<std::pair<uint16_t, double>> table{
      {0x3F80, 1}, {0xC000, -2}, {0x3DCD, 0.10009765625}, {0x7F80, HUGE_VAL}, {0x0001, std::ldexp(1, -133)}};
  for (const auto& [bits, value] : table) {
    EXPECT_EQ(element_value(Values<uint16_t>(Dtype::kBfloat16, {bits}).array(), 0), value) << bits;
  }
}

TEST(Elements, have_a_place_in_their_shape) {
  const std::array<int64_t, 3> shape{4, 3, 2};
  EXPECT_EQ(place_text(shape, 0), "[0, 0, 0]");
  EXPECT_EQ(place_text(shape, 23), "[3, 2, 1]");
  EXPECT_EQ(place_text(shape, 9), "[1, 1, 1]");
  EXPECT_EQ(place_text({}, 0), "[]");
  EXPECT_EQ(type_text({nullptr, Dtype::kFloat32, shape}), "float32[4, 3, 2]");
}

TEST(Statistics, are_of_the_finite_elements) {
  const double nan = std::nan("");
  const ElementStatistics some = statistics_of(Values<double>(Dtype::kFloat64, {1, nan, -4, HUGE_VAL, 6}).array());
  EXPECT_EQ(some.non_finite, 2);
  ASSERT_TRUE(some.finite);
  EXPECT_EQ(some.finite->min, -4);
  EXPECT_EQ(some.finite->max, 6);
  EXPECT_EQ(some.finite->mean, 1);
  const ElementStatistics none = statistics_of(Values<double>(Dtype::kFloat64, {nan}).array());
  EXPECT_EQ(none.non_finite, 1);
  EXPECT_FALSE(none.finite);
  EXPECT_FALSE(statistics_of(Values<double>(Dtype::kFloat64, {}).array()).finite);
}

}  // namespace
}  // namespace tenon::core
