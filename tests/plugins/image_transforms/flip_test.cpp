// transform:random_horizontal_flip and random_vertical_flip against plain loops.
#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>

namespace tenon::test {
namespace {

Picture flipped(const Picture& in, bool horizontal) {
  Picture out(in.height, in.width, in.channels);
  for (int64_t y = 0; y < in.height; ++y) {
    for (int64_t x = 0; x < in.width; ++x) {
      for (int64_t c = 0; c < in.channels; ++c) {
        out.at(y, x, c) = horizontal ? in.at(y, in.width - 1 - x, c) : in.at(in.height - 1 - y, x, c);
      }
    }
  }
  return out;
}

TEST(Flips, SwapEveryPixelAtEveryWidth) {
  const auto horizontal = image_transform("random_horizontal_flip", R"({"p": 1})");
  const auto vertical = image_transform("random_vertical_flip", R"({"p": 1})");
  for (const int64_t channels : {1, 3, 4}) {
    for (int64_t width = 1; width <= 40; ++width) {
      const Picture in = noise(3, width, channels, static_cast<uint64_t>(width));
      EXPECT_EQ(applied(*horizontal, in), flipped(in, true)) << width << " x " << channels;
      EXPECT_EQ(applied(*vertical, in), flipped(in, false)) << width << " x " << channels;
    }
  }
}

TEST(Flips, ComeAsOftenAsAskedFor) {
  const auto flip = image_transform("random_horizontal_flip", R"({"p": 0.3})");
  const Picture in = noise(2, 5, 3);
  int count = 0;
  for (uint64_t key = 0; key < 2000; ++key) count += applied(*flip, in, key) == in ? 0 : 1;
  EXPECT_NEAR(count, 600, 105);  // 5 standard deviations
}

TEST(Flips, WithoutAFlipTheImageIsHandedOn) {
  MemorySample sample = sample_of(noise(2, 5, 3));
  Rng random(1);
  image_transform("random_horizontal_flip", R"({"p": 0})")->apply(sample, random, {});
  EXPECT_EQ(sample.written_fields(), 0U);
}

}  // namespace
}  // namespace tenon::test
