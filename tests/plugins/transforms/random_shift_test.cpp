// transform:random_shift against a plain move of every pixel.
#include <map>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {
namespace {

constexpr int64_t kChannels = 2;
constexpr int64_t kHeight = 5;
constexpr int64_t kWidth = 7;

Made<Transform> random_shift(const std::string& params) {
  return make<Transform>("tenon_transforms", "random_shift", params);
}

/// Every pixel a different number, none of them 0.
template <class T>
std::vector<T> picture() {
  std::vector<T> values(kChannels * kHeight * kWidth);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i + 1);
  return values;
}

template <class T>
std::vector<T> moved(const std::vector<T>& image, int64_t down, int64_t right) {
  std::vector<T> out(image.size());
  for (int64_t c = 0; c < kChannels; ++c) {
    for (int64_t y = 0; y < kHeight; ++y) {
      for (int64_t x = 0; x < kWidth; ++x) {
        const int64_t from_y = y - down;
        const int64_t from_x = x - right;
        if (from_y < 0 || from_y >= kHeight || from_x < 0 || from_x >= kWidth) continue;
        out[static_cast<std::size_t>((c * kHeight + y) * kWidth + x)] =
            image[static_cast<std::size_t>((c * kHeight + from_y) * kWidth + from_x)];
      }
    }
  }
  return out;
}

template <class T>
std::vector<T> shifted(const Transform& transform, uint64_t key) {
  MemorySample sample;
  sample.set<T>("image", {kChannels, kHeight, kWidth}, picture<T>());
  Rng random(key);
  transform.apply(sample, random, {});
  return sample.written<T>("image");
}

/// The distances that turned the picture into `out`.
template <class T>
std::pair<int64_t, int64_t> distances(const std::vector<T>& out, int64_t pixels) {
  for (int64_t down = -pixels; down <= pixels; ++down) {
    for (int64_t right = -pixels; right <= pixels; ++right) {
      if (out == moved(picture<T>(), down, right)) return {down, right};
    }
  }
  ADD_FAILURE() << "no shift gives this image";
  return {1000, 1000};
}

TEST(RandomShift, EveryDistanceComesAboutEquallyOften) {
  const auto transform = random_shift(R"({"pixels": 2})");
  std::map<std::pair<int64_t, int64_t>, int> seen;
  constexpr int kDraws = 5000;
  for (uint64_t key = 0; key < kDraws; ++key) ++seen[distances(shifted<uint8_t>(*transform, key), 2)];
  EXPECT_EQ(seen.size(), 25U);
  for (const auto& [distance, count] : seen) {
    EXPECT_NEAR(count, kDraws / 25.0, 70) << distance.first << " " << distance.second;  // 5 standard deviations
  }
}

TEST(RandomShift, MovesWideTypesToo) {
  const auto transform = random_shift(R"({"pixels": 2})");
  for (uint64_t key = 0; key < 20; ++key) {
    EXPECT_EQ(distances(shifted<double>(*transform, key), 2), distances(shifted<uint8_t>(*transform, key), 2));
  }
}

TEST(RandomShift, IsAFunctionOfItsKey) {
  const auto one = random_shift(R"({"pixels": 2})");
  const auto other = random_shift(R"({"pixels": 2})");
  for (uint64_t key = 0; key < 20; ++key) EXPECT_EQ(shifted<int32_t>(*one, key), shifted<int32_t>(*other, key));
}

TEST(RandomShift, NoDistanceIsTheIdentity) {
  EXPECT_EQ(shifted<float>(*random_shift(R"({"pixels": 0})"), 5), picture<float>());
}

TEST(RandomShift, MovesImagesOutOfSight) {
  const auto transform = random_shift(R"({"pixels": 9223372036854775807})");
  EXPECT_EQ(shifted<uint8_t>(*transform, 3), std::vector<uint8_t>(picture<uint8_t>().size(), 0));
}

TEST(RandomShift, TakesAnImageWithoutChannels) {
  MemorySample sample;
  sample.set<uint8_t>("mask", {2, 3}, {1, 2, 3, 4, 5, 6});
  Rng random(11);
  random_shift(R"({"field": "mask", "pixels": 1})")->apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("mask"), (Shape{2, 3}));
}

TEST(RandomShift, RefusesWhatIsNoImage) {
  const Error scalar = error_of([] { (void)random_shift("{}")->spec({{"image", Dtype::kFloat32, {64}}}); });
  EXPECT_EQ(scalar.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(scalar.what()).find("float32[64]"), std::string::npos) << scalar.what();
  EXPECT_EQ(error_of([] { (void)random_shift(R"({"pixels": -1})"); }).pointer(), "/pixels");
}

}  // namespace
}  // namespace tenon::test
