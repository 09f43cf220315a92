// Masks and boxes follow their image: what is painted on it stays under them.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>

namespace tenon::test {
namespace {

constexpr int64_t kHeight = 40;
constexpr int64_t kWidth = 52;

struct Rectangle {
  int64_t left, top, right, bottom;
};
constexpr Rectangle kPainted{12, 9, 31, 24};

/// A dark image with a bright rectangle, the rectangle as a mask, and the box around it.
MemorySample painted() {
  Picture image(kHeight, kWidth, 3);
  std::vector<uint8_t> mask(static_cast<std::size_t>(kHeight * kWidth), 0);
  for (int64_t y = kPainted.top; y < kPainted.bottom; ++y) {
    for (int64_t x = kPainted.left; x < kPainted.right; ++x) {
      for (int64_t c = 0; c < 3; ++c) image.at(y, x, c) = 255;
      mask[static_cast<std::size_t>(y * kWidth + x)] = 1;
    }
  }
  MemorySample sample = sample_of(image);
  sample.set<uint8_t>("mask", {kHeight, kWidth}, mask);
  sample.set<float>("boxes", {1, 4}, {kPainted.left, kPainted.top, kPainted.right, kPainted.bottom});
  sample.set<int64_t>("classes", {1}, {7});
  return sample;
}

struct Case {
  std::string name;
  std::string params;
  double around =
      0;  ///< How much larger than what is painted a box may be, pixels: those around turned rectangles are.
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"resize", R"("height": 60, "width": 26, "interpolation": "nearest")"},
      {"resize", R"("size": 20, "interpolation": "nearest")"},
      {"center_crop", R"("height": 22, "width": 30)"},
      {"center_crop", R"("height": 50, "width": 60)"},
      {"random_crop", R"("height": 22, "width": 30)"},
      {"random_crop", R"("height": 40, "width": 52, "padding": [15])"},
      {"random_resized_crop", R"("height": 30, "width": 35, "interpolation": "nearest")"},
      {"random_horizontal_flip", ""},
      {"random_vertical_flip", ""},
      {"pad", R"("padding": [3, 4, 5, 6])"},
      {"random_rotation", R"("degrees": [90, 90], "interpolation": "nearest")"},
      {"random_rotation", R"("degrees": [180, 180], "interpolation": "nearest")"},
      {"random_affine", R"("degrees": [0], "translate": [0.3, 0.3], "scale": [0.7, 1.3], "interpolation": "nearest")",
       1},
      {"random_affine", R"("degrees": [0], "shear": [20], "interpolation": "nearest")", 1},
      {"random_perspective", R"("p": 1, "distortion_scale": 0.4, "interpolation": "nearest")", 2},
      {"rand_augment", R"("interpolation": "nearest", "operations": ["translate_x", "translate_y", "shear_y"])", 9},
      {"trivial_augment", R"("interpolation": "nearest", "operations": ["translate_x", "translate_y"])", 1},
  };
  return all;
}

bool drops(const std::string& name) { return name != "resize" && name != "pad" && !name.ends_with("flip"); }

std::string params_of(const Case& each) {
  return "{" + each.params + (each.params.empty() ? "" : ", ") + R"("masks": ["mask"], "boxes": "boxes")" +
         (drops(each.name) ? R"(, "with_boxes": ["classes"])" : "") + "}";
}

/// The painted part as it is seen: edges of the bright pixels.
Rectangle seen(const Picture& picture, uint8_t bright) {
  Rectangle edges{picture.width, picture.height, 0, 0};
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) {
      if (picture.at(y, x) != bright) continue;
      edges = {std::min(edges.left, x), std::min(edges.top, y), std::max(edges.right, x + 1),
               std::max(edges.bottom, y + 1)};
    }
  }
  return edges;
}

TEST(Joint, MasksAndBoxesFollowWhatIsPainted) {
  for (const Case& each : cases()) {
    const auto transform = image_transform(each.name, params_of(each));
    int visible = 0;
    for (uint64_t key = 0; key < 25; ++key) {
      const std::string where = each.name + " " + each.params + " key " + std::to_string(key);
      MemorySample sample = painted();
      const Spec out = transform->spec(sample.fields());
      Rng random(key);
      transform->apply(sample, random, {});
      const Picture image = picture_of(after(sample, "image"));
      const Picture mask = picture_of(after(sample, "mask"));
      ASSERT_EQ(mask.height, image.height) << where;
      ASSERT_EQ(mask.width, image.width) << where;
      int64_t differing = 0;
      for (int64_t y = 0; y < image.height; ++y) {
        for (int64_t x = 0; x < image.width; ++x) differing += (image.at(y, x) == 255) != (mask.at(y, x) == 1);
      }
      EXPECT_EQ(differing, 0) << where;
      const Array boxes = after(sample, "boxes");
      const Array classes = after(sample, "classes");
      EXPECT_EQ(classes.shape[0], boxes.shape[0]) << where;
      const Rectangle edges = seen(mask, 1);
      if (boxes.shape[0] == 0) {
        EXPECT_LE(edges.right, edges.left + 1) << where << ": a box vanished, and what it bounds did not";
        continue;
      }
      ++visible;
      EXPECT_EQ(classes.as<int64_t>()[0], 7) << where;
      const std::span<const float> box = boxes.as<float>();
      // Whole pixels count as bright, or not: a pixel more or less at each edge where the map is no whole one.
      const double less = 1.01;
      const double more = less + each.around;
      EXPECT_GT(box[0], static_cast<double>(edges.left) - more) << where;
      EXPECT_LT(box[0], static_cast<double>(edges.left) + less) << where;
      EXPECT_GT(box[1], static_cast<double>(edges.top) - more) << where;
      EXPECT_LT(box[1], static_cast<double>(edges.top) + less) << where;
      EXPECT_LT(box[2], static_cast<double>(edges.right) + more) << where;
      EXPECT_GT(box[2], static_cast<double>(edges.right) - less) << where;
      EXPECT_LT(box[3], static_cast<double>(edges.bottom) + more) << where;
      EXPECT_GT(box[3], static_cast<double>(edges.bottom) - less) << where;
    }
    EXPECT_GE(visible, 8) << each.name << ": hardly ever to be seen";
  }
}

TEST(Joint, BoxesVanishWithTheirRowsByTheShareThatIsLeft) {
  MemorySample sample = sample_of(Picture(10, 10, 1));
  sample.set<float>("boxes", {4, 4}, {0, 0, 4, 4, 2, 2, 8, 8, 3, 3, 5, 11, 9, 9, 10, 10});
  sample.set<int64_t>("classes", {4}, {1, 2, 3, 4});
  sample.set<float>("points", {4, 2}, {1, 1, 2, 2, 3, 3, 4, 4});
  const auto kept = [&](const std::string& share) {
    MemorySample copy = sample;
    Rng random(1);
    image_transform("center_crop", R"({"height": 6, "width": 6, "boxes": "boxes", "with_boxes": ["classes", "points"],
                                       "min_visible": )" +
                                       share + "}")
        ->apply(copy, random, {});
    EXPECT_EQ(copy.written_shape("points"), (Shape{copy.written_shape("boxes")[0], 2}));
    return std::pair{copy.written<int64_t>("classes"), copy.written<float>("boxes")};
  };
  // The window is [2, 8): a quarter of the first is left, all of the second, 5 of 8 rows of the third.
  EXPECT_EQ(kept("0").first, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(kept("0").second, (std::vector<float>{0, 0, 2, 2, 0, 0, 6, 6, 1, 1, 3, 6}));
  EXPECT_EQ(kept("0.25").first, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(kept("0.6").first, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(kept("1").first, (std::vector<int64_t>{2}));
}

TEST(Joint, TakesSamplesWithoutBoxes) {
  MemorySample sample = sample_of(Picture(10, 10, 1));
  sample.set<float>("boxes", {0, 4}, {});
  sample.set<int64_t>("classes", {0}, {});
  Rng random(1);
  image_transform("center_crop", R"({"height": 6, "width": 6, "boxes": "boxes", "with_boxes": ["classes"]})")
      ->apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("boxes"), (Shape{0, 4}));
  EXPECT_EQ(sample.written_shape("classes"), (Shape{0}));
}

TEST(Joint, WhatIsNoBoxVanishes) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  MemorySample sample = sample_of(Picture(10, 10, 1));
  sample.set<float>("boxes", {4, 4}, {kNan, 0, 4, 4, 8, 8, 2, 2, 3, 3, 3, 9, -kInfinity, 0, kInfinity, 4});
  for (const auto& [name, params] : std::vector<std::pair<std::string, std::string>>{
           {"center_crop", R"({"height": 6, "width": 6, "boxes": "boxes"})"},
           {"random_rotation", R"({"degrees": [30, 30], "boxes": "boxes"})"}}) {
    MemorySample copy = sample;
    Rng random(1);
    image_transform(name, params)->apply(copy, random, {});
    EXPECT_EQ(copy.written_shape("boxes"), (Shape{0, 4})) << name;
  }
}

TEST(Joint, FillsMasksWithTheirOwnValue) {
  MemorySample sample = sample_of(Picture(2, 2, 3));
  sample.set<uint8_t>("mask", {2, 2}, {1, 2, 3, 4});
  Rng random(1);
  image_transform("pad", R"({"padding": [1, 0], "fill": [9], "mask_fill": 255, "masks": ["mask"]})")
      ->apply(sample, random, {});
  EXPECT_EQ(sample.written<uint8_t>("mask"), (std::vector<uint8_t>{255, 1, 2, 255, 255, 3, 4, 255}));
  EXPECT_EQ(sample.written<uint8_t>("image")[0], 9);
}

TEST(Joint, RefusesFieldsThatDoNotFitTogether) {
  const auto refusal = [](const std::string& more, const FieldSpec& field) {
    return error_of([&] {
      (void)image_transform("center_crop", R"({"height": 2, "width": 2, )" + more + "}")
          ->spec({{"image", Dtype::kUint8, {8, 8, 3}}, field});
    });
  };
  EXPECT_EQ(refusal(R"("masks": ["mask"])", {"mask", Dtype::kInt64, {8, 8}}).pointer(), "/masks/0");
  EXPECT_EQ(refusal(R"("masks": ["mask"])", {"mask", Dtype::kUint8, {8, 8, 1}}).pointer(), "/masks/0");
  EXPECT_EQ(refusal(R"("boxes": "boxes")", {"boxes", Dtype::kFloat64, {"n", 4}}).pointer(), "/boxes");
  EXPECT_EQ(refusal(R"("boxes": "boxes")", {"boxes", Dtype::kFloat32, {"n", 5}}).pointer(), "/boxes");
  EXPECT_EQ(refusal(R"("masks": ["image"])", {"x", Dtype::kUint8, {}}).pointer(), "/masks/0");
  EXPECT_EQ(refusal(R"("with_boxes": ["x"])", {"x", Dtype::kUint8, {"n"}}).pointer(), "/with_boxes");

  MemorySample sample = sample_of(Picture(4, 4, 3));
  sample.set<uint8_t>("mask", {4, 5}, std::vector<uint8_t>(20));
  sample.set<float>("boxes", {2, 4}, std::vector<float>(8));
  sample.set<int64_t>("classes", {3}, {1, 2, 3});
  const auto failure = [&](const std::string& more) {
    MemorySample copy = sample;
    Rng random(1);
    return std::string(
        error_of([&] {
          image_transform("center_crop", R"({"height": 2, "width": 2, )" + more + "}")->apply(copy, random, {});
        }).what());
  };
  EXPECT_EQ(failure(R"("masks": ["mask"])"), "mask \"mask\" is uint8[4, 5], but its image has 4 x 4 pixels");
  EXPECT_EQ(failure(R"("boxes": "boxes", "with_boxes": ["classes"])"),
            "\"classes\" is int64[3], but there are 2 boxes");
}

TEST(Joint, TellsThatTheNumberOfBoxesMayChange) {
  const Spec in{{"image", Dtype::kUint8, {8, 8, 3}},
                {"boxes", Dtype::kFloat32, {5, 4}},
                {"classes", Dtype::kInt64, {5}},
                {"more", Dtype::kFloat32, {"n", 4}}};
  const Spec out =
      image_transform("center_crop", R"({"height": 2, "width": 2, "boxes": "boxes", "with_boxes": ["classes"]})")
          ->spec(in);
  EXPECT_EQ(to_string(out[1]), "float32[?, 4]");
  EXPECT_EQ(to_string(out[2]), "int64[?]");
  const Spec named = image_transform("center_crop", R"({"height": 2, "width": 2, "boxes": "more"})")->spec(in);
  EXPECT_EQ(to_string(named[3]), "float32[n, 4]");
  const Spec flipped = image_transform("random_horizontal_flip", R"({"boxes": "boxes"})")->spec(in);
  EXPECT_EQ(to_string(flipped[1]), "float32[5, 4]");
}

}  // namespace
}  // namespace tenon::test
