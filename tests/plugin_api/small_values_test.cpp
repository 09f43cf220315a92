// Specs, quantities, arrays, and which metric value is better.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <tenon/array.hpp>
#include <tenon/error.hpp>
#include <tenon/ports.hpp>
#include <tenon/quantity.hpp>
#include <tenon/spec.hpp>

namespace tenon {
namespace {

TEST(Spec, IsSpeltWithSizesSymbolsAndUnknowns) {
  EXPECT_EQ(to_string(FieldSpec{"image", Dtype::kUint8, {1, 8, 8}}), "uint8[1, 8, 8]");
  EXPECT_EQ(to_string(FieldSpec{"x", Dtype::kFloat32, {"N", Dim(), 3}}), "float32[N, ?, 3]");
  EXPECT_EQ(to_string(FieldSpec{"label", Dtype::kInt64, {}}), "int64[]");
}

TEST(Spec, AMissingFieldListsThoseThatAreThere) {
  const Spec spec{{"image", Dtype::kUint8, {8}}, {"label", Dtype::kInt64, {}}};
  EXPECT_EQ(index_of(spec, "label"), 1);
  try {
    static_cast<void>(index_of(spec, "lable"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "there is no field \"lable\" here; the fields are: image, label");
  }
}

TEST(Dtype, NamesAndTypesAreInverse) {
  for (const Dtype dtype : {Dtype::kBool, Dtype::kUint8, Dtype::kInt8, Dtype::kInt16, Dtype::kInt32, Dtype::kInt64,
                            Dtype::kFloat16, Dtype::kBfloat16, Dtype::kFloat32, Dtype::kFloat64}) {
    EXPECT_EQ(dtype_of(name_of(dtype)), dtype);
  }
  EXPECT_EQ(dtype_of("float"), std::nullopt);
}

TEST(Array, ReadAsAnotherTypeIsRefused) {
  float values[2] = {1, 2};
  const Shape shape{2};
  const Array array{values, Dtype::kFloat32, shape};
  EXPECT_EQ(array.as<float>()[1], 2);
  EXPECT_EQ(array.bytes(), 8U);
  EXPECT_THROW(static_cast<void>(array.as<uint8_t>()), Error);
}

TEST(Quantity, StepsOfASpan) {
  EXPECT_EQ(parse_span("500 steps").steps(17, 64), 500);
  EXPECT_EQ(parse_span("2 epochs").steps(17, 64), 34);
  EXPECT_EQ(parse_span("1 epoch").steps(17, 64), 17);
  EXPECT_EQ(parse_span("65 samples").steps(17, 64), 2);
}

TEST(Quantity, WhatIsWrittenReadsBack) {
  for (const char* text : {"1 step", "500 steps", "1 epoch", "20000 samples"}) {
    EXPECT_EQ(to_string(parse_span(text)), text);
  }
  EXPECT_EQ(parse_time(to_string(parse_time("1.5 h"))), parse_time("1.5 h"));
  EXPECT_EQ(parse_bytes(to_string(parse_bytes("25 MiB"))), parse_bytes("25 MiB"));
}

TEST(Quantity, BadTextSaysHowToWriteIt) {
  for (const char* text : {"", "steps", "500", "-1 steps", "1.5 epochs", "5 stpes", "1e999 steps", "nan steps"}) {
    EXPECT_THROW(static_cast<void>(parse_span(text)), Error) << text;
  }
  EXPECT_THROW(static_cast<void>(parse_time("15")), Error);
  EXPECT_THROW(static_cast<void>(parse_time("1e308 h")), Error);
  EXPECT_THROW(static_cast<void>(parse_bytes("25 mib")), Error);
}

TEST(Better, StrictlyAndOnlyFiniteValuesWin) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(better(0.9, 0.8, Direction::kMax));
  EXPECT_FALSE(better(0.9, 0.8, Direction::kMin));
  EXPECT_FALSE(better(0.8, 0.8, Direction::kMax));
  EXPECT_FALSE(better(0.8, 0.8, Direction::kMin));
  EXPECT_FALSE(better(nan, 0.8, Direction::kMax));
  EXPECT_FALSE(better(infinity, 0.8, Direction::kMax));
  EXPECT_TRUE(better(0.1, nan, Direction::kMax));
  EXPECT_FALSE(better(nan, nan, Direction::kMax));
}

}  // namespace
}  // namespace tenon
