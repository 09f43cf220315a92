// Crops: which windows, what lies beyond, and the same bytes where the data is read in part.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>
#include <tenon/components/partial_read.hpp>

namespace tenon::test {
namespace {

/// The window of `in`, with `fill` beyond.
Picture window(const Picture& in, int64_t top, int64_t left, int64_t height, int64_t width, uint8_t fill = 0) {
  Picture out(height, width, in.channels);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < in.channels; ++c) {
        const bool within = top + y >= 0 && top + y < in.height && left + x >= 0 && left + x < in.width;
        out.at(y, x, c) = within ? in.at(top + y, left + x, c) : fill;
      }
    }
  }
  return out;
}

/// Every pixel another colour.
Picture numbered(int64_t height, int64_t width) {
  Picture picture(height, width, 3);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      picture.at(y, x, 0) = static_cast<uint8_t>(y + 1);
      picture.at(y, x, 1) = static_cast<uint8_t>(x + 1);
      picture.at(y, x, 2) = 9;
    }
  }
  return picture;
}

TEST(CenterCrop, CutsTheMiddleAndPadsWhatIsTooSmall) {
  const Picture in = numbered(7, 8);
  EXPECT_EQ(applied("center_crop", R"({"height": 3, "width": 4})", in), window(in, 2, 2, 3, 4));
  EXPECT_EQ(applied("center_crop", R"({"height": 9, "width": 3, "fill": [5]})", in), window(in, -1, 2, 9, 3, 5));
  EXPECT_EQ(applied("center_crop", R"({"height": 7, "width": 8})", in), in);
  const Picture one = numbered(1, 1);
  EXPECT_EQ(applied("center_crop", R"({"height": 3, "width": 3})", one), window(one, -1, -1, 3, 3));
}

TEST(CenterCrop, FillsEachChannelWithItsOwnValue) {
  const Picture out = applied("center_crop", R"({"height": 1, "width": 4, "fill": [1, 2, 3]})", numbered(1, 2));
  EXPECT_EQ(out.bytes, (std::vector<uint8_t>{1, 2, 3, 1, 1, 9, 1, 2, 9, 1, 2, 3}));
  const Error error = error_of([] {
    (void)image_transform("center_crop", R"({"height": 1, "width": 4, "fill": [1, 2]})")
        ->spec({{"image", Dtype::kUint8, {4, 4, 3}}});
  });
  EXPECT_EQ(error.pointer(), "/fill");
}

TEST(RandomCrop, EveryWindowOfThePaddedImageComesAboutEquallyOften) {
  const Picture in = numbered(4, 5);
  const auto crop = image_transform("random_crop", R"({"height": 4, "width": 5, "padding": [1, 2]})");
  std::map<std::pair<int64_t, int64_t>, int> seen;
  constexpr int kDraws = 3000;
  for (uint64_t key = 0; key < kDraws; ++key) {
    const Picture out = applied(*crop, in, key);
    bool found = false;
    for (int64_t top = -2; top <= 2 && !found; ++top) {
      for (int64_t left = -1; left <= 1 && !found; ++left) {
        found = out == window(in, top, left, 4, 5);
        if (found) ++seen[{top, left}];
      }
    }
    ASSERT_TRUE(found) << "no window of the image, key " << key;
  }
  EXPECT_EQ(seen.size(), 15U);
  for (const auto& [place, count] : seen) EXPECT_NEAR(count, kDraws / 15.0, 70) << place.first << " " << place.second;
}

TEST(RandomCrop, AnImageThatIsTooSmallIsAnErrorUnlessPadded) {
  const Error error = error_of([] { (void)applied("random_crop", R"({"height": 4, "width": 4})", numbered(3, 9)); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_NE(std::string(error.what()).find("3 x 9"), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("pad_if_needed"), std::string::npos) << error.what();
  const Picture in = numbered(3, 9);
  for (uint64_t key = 0; key < 30; ++key) {
    const Picture out = applied("random_crop", R"({"height": 4, "width": 4, "pad_if_needed": true})", in, key);
    bool found = false;
    for (int64_t top = -1; top <= 0; ++top) {
      for (int64_t left = 0; left <= 5; ++left) found = found || out == window(in, top, left, 4, 4);
    }
    EXPECT_TRUE(found) << key;
  }
}

TEST(RandomCrop, PadsByTheImageItself) {
  Picture in(1, 3, 1);
  in.bytes = {1, 2, 3};
  const auto rows = [&](const std::string& mode) {
    return applied("pad", R"({"padding": [4, 0, 4, 0], "padding_mode": ")" + mode + "\"}", in).bytes;
  };
  EXPECT_EQ(rows("edge"), (std::vector<uint8_t>{1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3}));
  EXPECT_EQ(rows("reflect"), (std::vector<uint8_t>{1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3}));
  EXPECT_EQ(rows("symmetric"), (std::vector<uint8_t>{3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1}));
  EXPECT_EQ(rows("constant"), (std::vector<uint8_t>{0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0}));
  EXPECT_EQ(applied("pad", R"({"padding": [1], "padding_mode": "reflect"})", numbered(1, 1)).shape(), (Shape{3, 3, 3}));
}

TEST(RandomCrop, RefusesThreeSides) {
  EXPECT_EQ(error_of([] {
              (void)image_transform("random_crop", R"({"height": 1, "width": 1, "padding": [1, 2, 3]})");
            }).pointer(),
            "/padding");
}

TEST(Pad, TellsTheSizeThatComesOut) {
  const auto pad = image_transform("pad", R"({"padding": [1, 2, 3, 4]})");
  EXPECT_EQ(to_string(pad->spec({{"image", Dtype::kUint8, {10, 20, 3}}})[0]), "uint8[16, 24, 3]");
  EXPECT_EQ(to_string(pad->spec({{"image", Dtype::kUint8, {"H", "W", 3}}})[0]), "uint8[h, w, 3]");
}

TEST(RandomResizedCrop, WindowsHaveTheSharesAndShapesThatWereAskedFor) {
  // The image tells where each of its pixels comes from, and nearest keeps them as they are.
  const Picture in = numbered(100, 120);
  const auto crop = image_transform("random_resized_crop", R"({"height": 64, "width": 64, "interpolation": "nearest",
                                                              "scale": [0.2, 0.5], "ratio": [0.5, 2]})");
  double least = 1;
  double most = 0;
  for (uint64_t key = 0; key < 300; ++key) {
    const Picture out = applied(*crop, in, key);
    const double height = out.at(63, 0, 0) - out.at(0, 0, 0) + 1;
    const double width = out.at(0, 63, 1) - out.at(0, 0, 1) + 1;
    const double share = height * width / 12000;
    least = std::min(least, share);
    most = std::max(most, share);
    EXPECT_GT(share, 0.18) << key;
    EXPECT_LT(share, 0.52) << key;
    EXPECT_GT(width / height, 0.46) << key;
    EXPECT_LT(width / height, 2.16) << key;
  }
  EXPECT_LT(least, 0.25);
  EXPECT_GT(most, 0.45);
}

TEST(RandomResizedCrop, TakesTheMiddleWhereNoWindowFits) {
  const Picture in = numbered(4, 40);
  const Picture out =
      applied("random_resized_crop", R"({"height": 4, "width": 5, "scale": [1, 1], "ratio": [1, 1.25]})", in);
  EXPECT_EQ(out, window(in, 0, 17, 4, 5));
  const Picture one = numbered(1, 1);
  EXPECT_EQ(applied("random_resized_crop", R"({"height": 1, "width": 1})", one), one);
}

TEST(RandomResizedCrop, RefusesRangesOutOfOrder) {
  const auto pointer = [](const std::string& more) {
    return error_of([&] { (void)image_transform("random_resized_crop", R"({"height": 4, "width": 4, )" + more + "}"); })
        .pointer();
  };
  EXPECT_EQ(pointer(R"("scale": [0.5, 0.2])"), "/scale");
  EXPECT_EQ(pointer(R"("ratio": [1, 2, 3])"), "/ratio");
}

/// What the transform makes of the region that it chose, cut from the image by another.
Picture in_parts(Transform& transform, const Picture& in, uint64_t key) {
  const auto& cutting = *static_cast<const Cutting*>(transform.ability(Cutting::kAbility));
  Rng random(key);
  const Region region = cutting.choose({in.height, in.width}, random, {});
  EXPECT_GE(region.top, 0);
  EXPECT_GE(region.left, 0);
  EXPECT_GE(region.height, 1);
  EXPECT_GE(region.width, 1);
  EXPECT_LE(region.top + region.height, in.height);
  EXPECT_LE(region.left + region.width, in.width);
  MemorySample sample = sample_of(window(in, region.top, region.left, region.height, region.width));
  cutting.apply_cut(sample, {in.height, in.width}, region, random, {});
  return picture_of(after(sample, "image"));
}

TEST(Cutting, GivesTheBytesOfTheWholeImage) {
  const Picture in = noise(30, 41, 3);
  for (const auto& [name, params] : std::vector<std::pair<std::string, std::string>>{
           {"random_resized_crop", R"({"height": 12, "width": 10})"},
           {"random_resized_crop", R"({"height": 12, "width": 10, "interpolation": "bicubic", "antialias": false})"},
           {"random_crop", R"({"height": 12, "width": 10})"},
           {"random_crop", R"({"height": 30, "width": 41})"},
           {"center_crop", R"({"height": 12, "width": 10})"},
           {"center_crop", R"({"height": 35, "width": 10, "fill": [7]})"},
           {"center_crop", R"({"height": 35, "width": 50})"}}) {
    const auto transform = image_transform(name, params);
    const auto* const cutting = static_cast<const Cutting*>(transform->ability(Cutting::kAbility));
    ASSERT_NE(cutting, nullptr) << name;
    EXPECT_EQ(cutting->cut_field(), "image") << name;
    for (uint64_t key = 0; key < 20; ++key) {
      EXPECT_EQ(in_parts(*transform, in, key), applied(*transform, in, key)) << name << params << key;
    }
  }
}

TEST(Cutting, AWindowOfTheSizeThatComesOutIsWrittenToo) {
  // The sample holds the region, and its field must become the crop, though there is nothing to resize.
  const Picture in = noise(8, 9, 3);
  const auto transform = image_transform("random_resized_crop", R"({"height": 4, "width": 4, "scale": [0.222, 0.223],
                                                                   "ratio": [1, 1]})");
  const auto& cutting = *static_cast<const Cutting*>(transform->ability(Cutting::kAbility));
  Rng random(3);
  const Region region = cutting.choose({8, 9}, random, {});
  ASSERT_EQ(region.height, 4);
  ASSERT_EQ(region.width, 4);
  MemorySample sample = sample_of(window(in, region.top, region.left, 4, 4));
  cutting.apply_cut(sample, {8, 9}, region, random, {});
  ASSERT_TRUE(sample.wrote("image"));
  EXPECT_EQ(picture_of(sample.written_array("image")), window(in, region.top, region.left, 4, 4));
}

TEST(Cutting, HasNoUseForRegionsWhereOtherFieldsOrPaddingNeedMore) {
  for (const auto& [name, more] :
       std::vector<std::pair<std::string, std::string>>{{"random_resized_crop", R"("masks": ["mask"])"},
                                                        {"random_resized_crop", R"("boxes": "boxes")"},
                                                        {"center_crop", R"("masks": ["mask"])"},
                                                        {"random_crop", R"("padding": [1])"},
                                                        {"random_crop", R"("pad_if_needed": true)"}}) {
    const auto transform = image_transform(name, R"({"height": 2, "width": 2, )" + more + "}");
    EXPECT_EQ(static_cast<const Cutting*>(transform->ability(Cutting::kAbility))->cut_field(), "") << name << more;
  }
}

}  // namespace
}  // namespace tenon::test
