// transform:normalize_image against plain arithmetic, and what it refuses.
#include <cmath>

#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::test {
namespace {

std::vector<float> normalized(const std::string& params, const Picture& in) {
  MemorySample sample = sample_of(in);
  Rng random(1);
  image_transform("normalize_image", params)->apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("image"), (Shape{in.channels, in.height, in.width}));
  return sample.written<float>("image");
}

TEST(NormalizeImage, PutsChannelsFirstAndIsWithinFourUnitsInTheLastPlace) {
  const std::vector<double> mean{0.485, 0.456, 0.406, 0.1};
  const std::vector<double> std{0.229, 0.224, 0.225, 0.5};
  for (const int64_t channels : {1, 3, 4}) {
    std::string lists = R"({"mean": [)";
    for (int64_t c = 0; c < channels; ++c) lists += (c ? ", " : "") + std::to_string(mean[static_cast<std::size_t>(c)]);
    lists += R"(], "std": [)";
    for (int64_t c = 0; c < channels; ++c) lists += (c ? ", " : "") + std::to_string(std[static_cast<std::size_t>(c)]);
    lists += "]}";
    for (int64_t width = 1; width < 40; ++width) {
      const Picture in = noise(3, width, channels, static_cast<uint64_t>(width));
      const std::vector<float> out = normalized(lists, in);
      for (int64_t c = 0; c < channels; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        for (int64_t i = 0; i < 3 * width; ++i) {
          const double x = in.bytes[static_cast<std::size_t>(i * channels + c)] / 255.0;
          const double term = std::max(x, mean[channel]) / std[channel];
          EXPECT_NEAR(out[static_cast<std::size_t>(c * 3 * width + i)], (x - mean[channel]) / std[channel],
                      4 * std::ldexp(1.0, std::ilogb(term) - 23))
              << channels << " channels, width " << width;
        }
      }
    }
  }
}

TEST(NormalizeImage, ByDefaultWhiteIsOne) {
  Picture in(1, 2, 1);
  in.bytes = {0, 255};
  EXPECT_EQ(normalized("{}", in), (std::vector<float>{0, 1}));
}

TEST(NormalizeImage, OneNumberStandsForAllChannels) {
  const Picture in = noise(4, 9, 3);
  EXPECT_EQ(normalized(R"({"mean": [0.5], "std": [0.25, 0.5, 2]})", in),
            normalized(R"({"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.5, 2]})", in));
}

TEST(NormalizeImage, TellsHowItIsUndoneAndWhatComesOut) {
  const auto made = image_transform("normalize_image", R"({"mean": [0.5], "std": [0.25, 0.5, 1]})");
  const auto& rescaled = *static_cast<const Rescaled*>(made->ability(Rescaled::kAbility));
  const std::optional<Rescaling> rescaling = rescaled.rescaling("image");
  ASSERT_TRUE(rescaling.has_value());
  EXPECT_EQ(rescaling->scale, (std::vector<double>{63.75, 127.5, 255}));
  EXPECT_EQ(rescaling->offset, (std::vector<double>{127.5, 127.5, 127.5}));
  EXPECT_EQ(rescaling->axis, 0);
  EXPECT_FALSE(rescaled.rescaling("label").has_value());
  EXPECT_EQ(to_string(made->spec({{"image", Dtype::kUint8, {"H", 5, 3}}})[0]), "float32[3, H, 5]");
}

TEST(NormalizeImage, RefusesListsThatCannotWork) {
  const auto pointer = [](const std::string& params) {
    return error_of([&] { (void)image_transform("normalize_image", params); }).pointer();
  };
  EXPECT_EQ(pointer(R"({"std": [1, 0]})"), "/std/1");
  EXPECT_EQ(pointer(R"({"std": [1e-60]})"), "/std");
  EXPECT_EQ(pointer(R"({"mean": [1e60]})"), "/mean");
  EXPECT_EQ(pointer(R"({"mean": [1, 2], "std": [1, 2, 3]})"), "/mean");
  EXPECT_EQ(pointer(R"({"mean": [1, 2, 3, 4, 5]})"), "/mean");
  const Error channels = error_of([] {
    (void)image_transform("normalize_image", R"({"mean": [0, 0, 0]})")->spec({{"image", Dtype::kUint8, {8, 8, 1}}});
  });
  EXPECT_EQ(channels.pointer(), "/mean");
  EXPECT_STREQ(channels.what(), "mean has 3 elements, but \"image\" has 1 channel: give one for each, or one for all");
}

}  // namespace
}  // namespace tenon::test
