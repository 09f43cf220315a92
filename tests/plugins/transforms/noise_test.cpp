// transform:noise.
#include <cmath>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {
namespace {

Made<Transform> noise(const std::string& params) { return make<Transform>("tenon_transforms", "noise", params); }

std::vector<float> drawn(const std::string& shape, uint64_t key) {
  MemorySample sample;
  Rng random(key);
  noise(R"({"shape": )" + shape + "}")->apply(sample, random, {});
  return sample.written<float>("noise");
}

TEST(Noise, IsOneNormalDrawOfTheGivenStreamForEachElement) {
  Rng random(5);
  for (const float value : drawn("[3, 4]", 5)) EXPECT_EQ(value, static_cast<float>(random.normal()));
  EXPECT_EQ(drawn("[3, 4]", 5).size(), 12U);
  EXPECT_EQ(drawn("[]", 5).size(), 1U);
  EXPECT_NE(drawn("[3, 4]", 5), drawn("[3, 4]", 6));
}

TEST(Noise, HasMeanZeroAndDeviationOne) {
  double sum = 0;
  double squares = 0;
  const std::vector<float> values = drawn("[100000]", 2);
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / 1e5, 0, 4 / std::sqrt(1e5));
  EXPECT_NEAR(squares / 1e5, 1, 4 * std::sqrt(2 / 1e5));
}

TEST(Noise, AddsItsFieldUnderANameThatIsFree) {
  const Spec in{{"image", Dtype::kUint8, {2}}};
  const Spec out = noise(R"({"name": "latent", "shape": [3, 4]})")->spec(in);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[1].name, "latent");
  EXPECT_EQ(to_string(out[1]), "float32[3, 4]");
  const Error error = error_of([&] { (void)noise(R"({"name": "image", "shape": [3]})")->spec(in); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.pointer(), "/name");
  EXPECT_EQ(error_of([] { (void)noise(R"({"shape": [3, 0]})"); }).pointer(), "/shape/1");
}

TEST(Noise, SaysThatItIsRandom) {
  EXPECT_NE(std::string(descriptor("tenon_transforms", "noise").describe()).find("\"random\""), std::string::npos);
}

}  // namespace
}  // namespace tenon::test
