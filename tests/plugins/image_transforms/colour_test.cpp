// Transforms of colour: exact small cases, alpha, grey images, and how often.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>

namespace tenon::test {
namespace {

/// One row of pixels.
Picture row(int64_t channels, std::vector<uint8_t> bytes) {
  Picture picture(1, static_cast<int64_t>(bytes.size()) / channels, channels);
  picture.bytes = std::move(bytes);
  return picture;
}

std::vector<uint8_t> jittered(const std::string& params, const Picture& in) {
  return applied("color_jitter", params, in).bytes;
}

TEST(ColorJitter, ChangesByTheFactorAlone) {
  const Picture in = row(3, {10, 100, 200, 250, 0, 1});
  EXPECT_EQ(jittered(R"({"brightness": [1.5, 1.5]})", in), (std::vector<uint8_t>{15, 150, 255, 255, 0, 1}));
  EXPECT_EQ(jittered(R"({"saturation": [0, 0]})", row(3, {255, 255, 255, 255, 0, 0})),
            (std::vector<uint8_t>{255, 255, 255, 76, 76, 76}));
  EXPECT_EQ(jittered(R"({"contrast": [0, 0]})", row(3, {0, 0, 0, 255, 255, 255})), (std::vector<uint8_t>(6, 127)));
  EXPECT_EQ(jittered(R"({"hue": [0.5, 0.5]})", row(3, {255, 0, 0, 0, 255, 0})),
            (std::vector<uint8_t>{0, 255, 255, 255, 0, 255}));
}

TEST(ColorJitter, AlphaStays) {
  for (const std::string params : {R"({"brightness": [2, 2]})", R"({"contrast": [0.5, 0.5]})",
                                   R"({"saturation": [0, 0]})", R"({"hue": [0.2, 0.2]})"}) {
    const std::vector<uint8_t> out = jittered(params, row(4, {10, 200, 30, 77, 1, 2, 3, 200}));
    EXPECT_EQ(out[3], 77) << params;
    EXPECT_EQ(out[7], 200) << params;
    EXPECT_NE(out[1], 200) << params;
  }
}

TEST(Colour, AlphaStaysWhateverHappensByChanceOrByPolicy) {
  Picture in = noise(20, 24, 4);
  for (uint8_t& byte : in.bytes) byte = static_cast<uint8_t>(40 + byte / 2);
  std::vector<std::pair<std::string, std::string>> all{
      {"random_grayscale", R"({"p": 1})"}, {"random_autocontrast", R"({"p": 1})"}, {"random_equalize", R"({"p": 1})"}};
  for (const std::string operation :
       {"brightness", "color", "contrast", "sharpness", "posterize", "solarize", "autocontrast", "equalize"}) {
    all.emplace_back("rand_augment", R"({"num_ops": 1, "magnitude": 30, "operations": [")" + operation + "\"]}");
  }
  for (const auto& [name, params] : all) {
    const Picture out = applied(name, params, in);
    EXPECT_EQ(channel_of(out, 3), channel_of(in, 3)) << name << params;
    EXPECT_NE(channel_of(out, 1), channel_of(in, 1)) << name << params;
  }
}

TEST(ColorJitter, OneChannelHasNoColourToChange) {
  const Picture in = row(1, {5, 100});
  EXPECT_EQ(jittered(R"({"saturation": [0, 0], "hue": [0.3, 0.3]})", in), in.bytes);
  EXPECT_EQ(jittered(R"({"brightness": [2, 2]})", in), (std::vector<uint8_t>{10, 200}));
}

TEST(ColorJitter, TheOrderIsDrawn) {
  const Picture in = row(3, {200, 100, 50, 10, 60, 90});
  const auto jitter = image_transform("color_jitter", R"({"brightness": [2, 2], "contrast": [0.5, 0.5]})");
  std::set<std::vector<uint8_t>> seen;
  for (uint64_t key = 0; key < 40; ++key) seen.insert(applied(*jitter, in, key).bytes);
  EXPECT_EQ(seen.size(), 2U);
}

TEST(ColorJitter, OneNumberIsTheDistanceFromOne) {
  const Picture in = row(1, {100});
  const auto jitter = image_transform("color_jitter", R"({"brightness": [0.4]})");
  int least = 255;
  int most = 0;
  for (uint64_t key = 0; key < 400; ++key) {
    const int value = applied(*jitter, in, key).bytes[0];
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_GE(least, 59);
  EXPECT_LE(least, 64);
  EXPECT_LE(most, 140);
  EXPECT_GE(most, 136);
}

TEST(Grayscale, MakesOneChannelOrThree) {
  const Picture in = row(3, {255, 255, 255, 0, 255, 0});
  EXPECT_EQ(applied("grayscale", "{}", in), row(1, {255, 150}));
  EXPECT_EQ(applied("grayscale", R"({"channels": 3})", in).bytes, (std::vector<uint8_t>{255, 255, 255, 150, 150, 150}));
  EXPECT_EQ(applied("grayscale", R"({"channels": 3})", row(1, {7, 8})).bytes, (std::vector<uint8_t>{7, 7, 7, 8, 8, 8}));
  EXPECT_EQ(applied("grayscale", "{}", row(4, {255, 255, 255, 3})), row(1, {255}));
  EXPECT_EQ(error_of([] { (void)image_transform("grayscale", R"({"channels": 2})"); }).pointer(), "/channels");
}

TEST(RandomAutocontrast, StretchesEachChannelAndLeavesFlatOnes) {
  EXPECT_EQ(applied("random_autocontrast", R"({"p": 1})", row(3, {10, 7, 0, 20, 7, 255, 15, 7, 100})).bytes,
            (std::vector<uint8_t>{0, 7, 0, 255, 7, 255, 127, 7, 100}));
}

TEST(RandomEqualize, ValuesBecomeAboutEquallyFrequent) {
  Picture in(32, 32, 1);
  for (std::size_t i = 0; i < in.bytes.size(); ++i) in.bytes[i] = static_cast<uint8_t>(i < 900 ? i % 8 : 8 + i % 8);
  const Picture out = applied("random_equalize", R"({"p": 1})", in);
  EXPECT_EQ(out.at(0, 0), 0);
  EXPECT_GT(out.at(0, 7), 180);
  const Picture flat = row(1, {5, 5, 5});
  EXPECT_EQ(applied("random_equalize", R"({"p": 1})", flat), flat);
}

TEST(GaussianBlur, SpreadsAPointEvenlyAndKeepsFlatImages) {
  Picture point(9, 9, 1);
  point.at(4, 4) = 255;
  const Picture out = applied("gaussian_blur", R"({"kernel_size": 3, "sigma": [1, 1]})", point);
  EXPECT_EQ(out.at(4, 3), out.at(4, 5));
  EXPECT_EQ(out.at(3, 4), out.at(5, 4));
  EXPECT_EQ(out.at(4, 3), out.at(3, 4));
  EXPECT_NEAR(out.at(4, 4), 255 * 0.2042, 1.5);
  EXPECT_EQ(out.at(4, 6), 0);
  Picture flat(5, 6, 3);
  std::fill(flat.bytes.begin(), flat.bytes.end(), uint8_t{93});
  EXPECT_EQ(applied("gaussian_blur", R"({"kernel_size": 9})", flat), flat);
  EXPECT_EQ(applied("gaussian_blur", R"({"kernel_size": 9})", row(3, {1, 2, 3})).bytes,
            (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ(error_of([] { (void)image_transform("gaussian_blur", R"({"kernel_size": 4})"); }).pointer(),
            "/kernel_size");
}

TEST(GaussianBlur, BlursEachChannelAlphaToo) {
  const Picture in = noise(12, 15, 4);
  const std::string params = R"({"kernel_size": 5, "sigma": [1.5, 1.5]})";
  const Picture out = applied("gaussian_blur", params, in);
  for (int64_t c = 0; c < 4; ++c) {
    EXPECT_EQ(channel_of(out, c), applied("gaussian_blur", params, channel_of(in, c))) << c;
    EXPECT_NE(channel_of(out, c), channel_of(in, c)) << c;
  }
}

TEST(RandomErasing, PaintsAlphaToo) {
  Picture in(20, 30, 4);
  std::fill(in.bytes.begin(), in.bytes.end(), uint8_t{1});
  const Picture out = applied("random_erasing", R"({"p": 1, "fill": [7, 8, 9, 250]})", in);
  int64_t painted = 0;
  for (int64_t y = 0; y < 20; ++y) {
    for (int64_t x = 0; x < 30; ++x) {
      EXPECT_EQ(out.at(y, x, 3), out.at(y, x, 0) == 7 ? 250 : 1);
      painted += out.at(y, x, 3) == 250 ? 1 : 0;
    }
  }
  EXPECT_GT(painted, 5);
}

TEST(RandomErasing, PaintsOneRectangleOfTheSizeAskedFor) {
  Picture in(20, 30, 3);
  std::fill(in.bytes.begin(), in.bytes.end(), uint8_t{1});
  const auto erase =
      image_transform("random_erasing", R"({"p": 1, "scale": [0.1, 0.2], "ratio": [0.5, 2], "fill": [7, 8, 9]})");
  for (uint64_t key = 0; key < 100; ++key) {
    const Picture out = applied(*erase, in, key);
    int64_t top = 20, left = 30, bottom = 0, right = 0, count = 0;
    for (int64_t y = 0; y < 20; ++y) {
      for (int64_t x = 0; x < 30; ++x) {
        if (out.at(y, x) == 1) continue;
        ASSERT_EQ(out.at(y, x, 0), 7);
        ASSERT_EQ(out.at(y, x, 2), 9);
        top = std::min(top, y), left = std::min(left, x), bottom = std::max(bottom, y + 1),
        right = std::max(right, x + 1);
        ++count;
      }
    }
    EXPECT_EQ(count, (bottom - top) * (right - left)) << "a whole rectangle, key " << key;
    EXPECT_GE(count, 50) << key;
    EXPECT_LE(count, 135) << key;
  }
}

TEST(RandomErasing, PaintsNoiseAndLeavesWhatIsTooSmall) {
  const Picture out =
      applied("random_erasing", R"({"p": 1, "scale": [0.5, 0.5], "ratio": [1, 1], "noise": true})", Picture(40, 40, 1));
  std::set<uint8_t> values(out.bytes.begin(), out.bytes.end());
  EXPECT_GT(values.size(), 150U);
  const Picture one = noise(1, 1, 3);
  EXPECT_EQ(applied("random_erasing", R"({"p": 1})", one), one);
  EXPECT_EQ(
      error_of([] {
        (void)image_transform("random_erasing", R"({"fill": [1, 2]})")->spec({{"image", Dtype::kUint8, {8, 8, 3}}});
      }).pointer(),
      "/fill");
}

TEST(Ratios, AreRefusedWhereNoImageHasThem) {
  for (const std::string start : {"random_erasing", "random_resized_crop"}) {
    const std::string begin = start == "random_erasing" ? R"({"ratio": )" : R"({"height": 4, "width": 4, "ratio": )";
    const auto pointer = [&](const std::string& ratio) {
      return error_of([&] { (void)image_transform(start, begin + ratio + "}"); }).pointer();
    };
    EXPECT_EQ(pointer("[1, 1e300]"), "/ratio/1") << start;
    EXPECT_EQ(pointer("[1e-300, 1]"), "/ratio/0") << start;
    const auto widest = image_transform(start, begin + "[0.001, 1000]}");
    for (uint64_t key = 0; key < 50; ++key) EXPECT_EQ(applied(*widest, noise(9, 7, 3), key).channels, 3);
  }
}

}  // namespace
}  // namespace tenon::test
