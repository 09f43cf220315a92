// transform:to_float against plain division.
#include <cmath>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {
namespace {

Made<Transform> to_float(const std::string& params) { return make<Transform>("tenon_transforms", "to_float", params); }

template <class T>
class ToFloatOf : public ::testing::Test {};
using Types = ::testing::Types<uint8_t, int8_t, int16_t, int32_t, int64_t, float, double>;
TYPED_TEST_SUITE(ToFloatOf, Types);

TYPED_TEST(ToFloatOf, DividesByMaxAndRoundsOnce) {
  std::vector<TypeParam> values;
  for (int i = 0; i <= 100; ++i) values.push_back(static_cast<TypeParam>(i));
  MemorySample sample;
  sample.set<TypeParam>("image", {101}, values);
  sample.set<int64_t>("label", {}, {3});
  Rng random(1);
  to_float(R"({"max": 100})")->apply(sample, random, {});
  const std::vector<float> out = sample.written<float>("image");
  ASSERT_EQ(out.size(), values.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], static_cast<float>(static_cast<double>(i) / 100)) << i;
  }
  EXPECT_EQ(sample.written_fields(), 1U);
}

TEST(ToFloat, MaxBecomesExactlyOne) {
  MemorySample sample;
  sample.set<uint8_t>("depth", {1, 2, 2}, {0, 15, 16, 8});
  Rng random(1);
  to_float(R"({"field": "depth", "max": 16})")->apply(sample, random, {});
  EXPECT_EQ(sample.written<float>("depth"), (std::vector<float>{0, 0.9375F, 1, 0.5F}));
  EXPECT_EQ(sample.written_shape("depth"), (Shape{1, 2, 2}));
}

TEST(ToFloat, RetypesItsFieldAloneInTheSpec) {
  const Spec out = to_float("{}")->spec({{"label", Dtype::kInt64, {}}, {"image", Dtype::kUint8, {1, "H", "W"}}});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(to_string(out[0]), "int64[]");
  EXPECT_EQ(to_string(out[1]), "float32[1, H, W]");
}

TEST(ToFloat, RefusesWhatItCannotScale) {
  const Error missing = error_of([] { (void)to_float("{}")->spec({{"label", Dtype::kInt64, {}}}); });
  EXPECT_EQ(missing.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(missing.what()).find("label"), std::string::npos) << missing.what();
  const Error half = error_of([] { (void)to_float("{}")->spec({{"image", Dtype::kFloat16, {2}}}); });
  EXPECT_EQ(half.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(half.what()).find("float16[2]"), std::string::npos) << half.what();
  EXPECT_EQ(error_of([] { (void)to_float(R"({"max": 0})"); }).pointer(), "/max");
}

}  // namespace
}  // namespace tenon::test
