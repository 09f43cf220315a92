// MyTransform: one factor a sample, within the amount, from the sample's own random numbers.
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/components/transform.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/samples.hpp>

namespace {

using tenon::harness::make;
using tenon::harness::MemorySample;
using tenon::harness::push;
using tenon::harness::refused;

MemorySample image_of(const std::vector<float>& values) {
  MemorySample sample;
  sample.set<float>("image", {1, 2, 2}, values);
  return sample;
}

TEST(MyTransform, MultipliesAllOfASampleByOneFactorWithinTheAmount) {
  const auto transform = make<tenon::Transform>("my_transform", R"({"amount": 0.5})");
  for (int64_t sample = 0; sample < 100; ++sample) {
    const MemorySample out = push(*transform, image_of({1, 2, 4, 0}), {.sample = sample});
    const auto values = out.at("image").as<float>();
    EXPECT_GE(values[0], 0.5F);
    EXPECT_LT(values[0], 1.5F);
    EXPECT_FLOAT_EQ(values[1], 2 * values[0]);
    EXPECT_FLOAT_EQ(values[2], 4 * values[0]);
    EXPECT_EQ(values[3], 0);
  }
}

TEST(MyTransform, DrawsAnotherFactorForEachSampleAndTheSameOneAgain) {
  const auto transform = make<tenon::Transform>("my_transform");
  const auto factor = [&](int64_t sample) {
    return push(*transform, image_of({1, 1, 1, 1}), {.sample = sample}).at("image").as<float>()[0];
  };
  std::set<float> seen;
  for (int64_t sample = 0; sample < 20; ++sample) seen.insert(factor(sample));
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_EQ(factor(7), factor(7));
}

TEST(MyTransform, RefusesAFieldOfAnotherType) {
  const auto transform = make<tenon::Transform>("my_transform");
  MemorySample bytes;
  bytes.set<uint8_t>("image", {1, 2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(refused([&] { (void)push(*transform, bytes); }, tenon::ErrorCode::kConfig, "/field", "to_float"));
}

}  // namespace
