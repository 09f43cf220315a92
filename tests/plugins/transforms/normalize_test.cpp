// transform:normalize against plain arithmetic, and what it refuses.
#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {
namespace {

Made<Transform> normalize(const std::string& params) {
  return make<Transform>("tenon_transforms", "normalize", params);
}

/// [3, 2, 2], every element different.
std::vector<float> picture() {
  std::vector<float> values(12);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.37F - 1.1F;
  return values;
}

std::vector<float> normalized(const std::string& params) {
  MemorySample sample;
  sample.set<float>("image", {3, 2, 2}, picture());
  sample.set<int64_t>("label", {}, {3});
  Rng random(1);
  normalize(params)->apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("image"), (Shape{3, 2, 2}));
  EXPECT_EQ(sample.written_fields(), 1U);
  return sample.written<float>("image");
}

/// The message and the code of what spec() throws for an image of this type and shape.
Error refusal(const std::string& params, Dtype dtype, std::vector<Dim> shape) {
  return error_of([&] { (void)normalize(params)->spec({{"image", dtype, std::move(shape)}}); });
}

TEST(Normalize, SubtractsAndDividesInFloat32ChannelByChannel) {
  const std::vector<float> out = normalized(R"({"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]})");
  const std::vector<float> mean{0.485F, 0.456F, 0.406F};
  const std::vector<float> std{0.229F, 0.224F, 0.225F};
  const std::vector<float> in = picture();
  ASSERT_EQ(out.size(), in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const float difference = in[i] - mean[i / 4];
    EXPECT_EQ(out[i], difference / std[i / 4]) << i;
  }
}

TEST(Normalize, TellsHowItIsUndoneAlongTheFirstAxis) {
  const Made<Transform> made = normalize(R"({"mean": [0.485, 2], "std": [0.25]})");
  void* const ability = made->ability(Rescaled::kAbility);
  ASSERT_NE(ability, nullptr);
  const auto& rescaled = *static_cast<const Rescaled*>(ability);
  const std::optional<Rescaling> rescaling = rescaled.rescaling("image");
  ASSERT_TRUE(rescaling.has_value());
  EXPECT_EQ(rescaling->scale, (std::vector<double>{0.25}));
  EXPECT_EQ(rescaling->offset, (std::vector<double>{0.485F, 2}));
  EXPECT_EQ(rescaling->axis, 0);
  EXPECT_FALSE(rescaled.rescaling("label").has_value());
}

TEST(Normalize, OneNumberStandsForAllChannels) {
  EXPECT_EQ(normalized(R"({"mean": [0.5], "std": [0.25, 0.5, 2]})"),
            normalized(R"({"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.5, 2]})"));
  EXPECT_EQ(normalized(R"({"mean": [0.5, 1, 2], "std": [0.25]})"),
            normalized(R"({"mean": [0.5, 1, 2], "std": [0.25, 0.25, 0.25]})"));
}

TEST(Normalize, TakesAnyNumberOfAxesAndNone) {
  MemorySample sample;
  sample.set<float>("features", {2}, {3, 5});
  sample.set<float>("age", {}, {40});
  Rng random(1);
  normalize(R"({"field": "features", "mean": [1, 2], "std": [2, 4]})")->apply(sample, random, {});
  EXPECT_EQ(sample.written<float>("features"), (std::vector<float>{1, 0.75F}));
  normalize(R"({"field": "age", "mean": [30], "std": [20]})")->apply(sample, random, {});
  EXPECT_EQ(sample.written<float>("age"), (std::vector<float>{0.5F}));
}

TEST(Normalize, LeavesTheSpecAsItIs) {
  const Spec out = normalize(R"({"mean": [0, 0, 0], "std": [1]})")
                       ->spec({{"label", Dtype::kInt64, {}}, {"image", Dtype::kFloat32, {3, "H", "W"}}});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(to_string(out[0]), "int64[]");
  EXPECT_EQ(to_string(out[1]), "float32[3, H, W]");
}

TEST(Normalize, NamesBothNumbersOfChannelsBeforeAnySampleIsRead) {
  const Error mean = refusal(R"({"mean": [0, 0, 0], "std": [1]})", Dtype::kFloat32, {1, 8, 8});
  EXPECT_EQ(mean.code(), ErrorCode::kConfig);
  EXPECT_EQ(mean.pointer(), "/mean");
  EXPECT_STREQ(mean.what(), "mean has 3 elements, but \"image\" has 1 channel: give one for each, or one for all");
  const Error std = refusal(R"({"mean": [0], "std": [1, 1]})", Dtype::kFloat32, {3, 8, 8});
  EXPECT_EQ(std.pointer(), "/std");
  EXPECT_STREQ(std.what(), "std has 2 elements, but \"image\" has 3 channels: give one for each, or one for all");
}

TEST(Normalize, RefusesAnotherNumberOfChannelsThatOnlyTheDataTells) {
  const auto transform = normalize(R"({"mean": [0, 0], "std": [1]})");
  EXPECT_EQ(transform->spec({{"image", Dtype::kFloat32, {"C", 2}}}).size(), 1U);
  MemorySample sample;
  sample.set<float>("image", {3, 2}, std::vector<float>(6));
  Rng random(1);
  const Error error = error_of([&] { transform->apply(sample, random, {}); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_NE(std::string(error.what()).find("mean has 2 elements, but \"image\" has 3 channels"), std::string::npos)
      << error.what();
}

TEST(Normalize, RefusesTypesButFloat32AndSaysWhatHelps) {
  const Error error = refusal(R"({"mean": [0], "std": [1]})", Dtype::kUint8, {1, 8, 8});
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(error.what()).find("uint8[1, 8, 8]"), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("to_float"), std::string::npos) << error.what();
}

TEST(Normalize, RefusesListsThatCannotWork) {
  const auto pointer = [](const std::string& params) { return error_of([&] { (void)normalize(params); }).pointer(); };
  EXPECT_EQ(pointer(R"({"mean": [0], "std": [1, 0]})"), "/std/1");
  EXPECT_EQ(pointer(R"({"mean": [0], "std": [-1]})"), "/std/0");
  EXPECT_EQ(pointer(R"({"mean": [0], "std": [1e-60]})"), "/std/0") << "zero in float32";
  EXPECT_EQ(pointer(R"({"mean": [0, 1e300], "std": [1]})"), "/mean/1") << "infinite in float32";
  EXPECT_EQ(pointer(R"({"mean": [], "std": [1]})"), "/mean");
  EXPECT_EQ(pointer(R"({"mean": [1, 2], "std": [1, 2, 3]})"), "/std");
}

}  // namespace
}  // namespace tenon::test
