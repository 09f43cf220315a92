// transform:mixup, cutmix and mosaic: several samples become one.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>
#include <tenon/components/multi_sample.hpp>

namespace tenon::test {
namespace {

const MultiSample& several(Transform& transform) {
  return *static_cast<const MultiSample*>(transform.ability(MultiSample::kAbility));
}

Picture flat(int64_t height, int64_t width, uint8_t value) {
  Picture picture(height, width, 1);
  std::fill(picture.bytes.begin(), picture.bytes.end(), value);
  return picture;
}

MemorySample labelled(const Picture& picture, int64_t label) {
  MemorySample sample = sample_of(picture);
  sample.set<int64_t>("label", {}, {label});
  return sample;
}

struct Mixed {
  Picture image;
  std::vector<float> label;
};

Mixed mixed(Transform& transform, MemorySample sample, const MemorySample& other, uint64_t key) {
  const std::vector<const Sample*> others{&other};
  Rng random(key);
  several(transform).apply_with(sample, others, random, {});
  return {picture_of(after(sample, "image")), sample.written<float>("label")};
}

TEST(Mixup, ImageAndLabelHaveTheSameShares) {
  const auto mixup = image_transform("mixup", R"({"classes": 3})");
  EXPECT_EQ(several(*mixup).others(), 1);
  double sum = 0;
  constexpr int kDraws = 1000;
  for (uint64_t key = 0; key < kDraws; ++key) {
    const Mixed out = mixed(*mixup, labelled(flat(2, 3, 200), 2), labelled(flat(2, 3, 0), 0), key);
    ASSERT_EQ(out.label.size(), 3U);
    EXPECT_NEAR(out.label[0] + out.label[2], 1, 1e-6);
    EXPECT_EQ(out.label[1], 0);
    for (const uint8_t byte : out.image.bytes) EXPECT_NEAR(byte, 200 * out.label[2], 0.51);
    sum += out.label[2];
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.046);  // 5 standard deviations of a uniform share
}

TEST(Mixing, AlphaIsRefusedWhereSharesCannotBeDrawn) {
  for (const std::string name : {"mixup", "cutmix"}) {
    for (const std::string alpha : {"0", "5e-324", "1e200"}) {
      const Error error = error_of([&] { (void)image_transform(name, R"({"classes": 2, "alpha": )" + alpha + "}"); });
      EXPECT_EQ(error.pointer(), "/alpha") << name << alpha;
    }
  }
}

TEST(Mixup, AlphaSaysHowUnequalTheSharesAre) {
  // The variance of a beta distribution with both parameters a is 1 / (4 (2 a + 1)).
  for (const double alpha : {0.2, 1.0, 5.0}) {
    const auto mixup = image_transform("mixup", R"({"classes": 2, "alpha": )" + std::to_string(alpha) + "}");
    double squares = 0;
    constexpr int kDraws = 3000;
    for (uint64_t key = 0; key < kDraws; ++key) {
      const Mixed out = mixed(*mixup, labelled(flat(1, 1, 0), 0), labelled(flat(1, 1, 0), 1), key);
      squares += std::pow(out.label[0] - 0.5, 2) / kDraws;
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_NEAR(squares, variance, 0.1 * variance) << alpha;
  }
}

TEST(Cutmix, LabelsHaveTheShareOfTheArea) {
  const auto cutmix = image_transform("cutmix", R"({"classes": 2})");
  double sum = 0;
  for (uint64_t key = 0; key < 300; ++key) {
    const Mixed out = mixed(*cutmix, labelled(flat(20, 30, 1), 0), labelled(flat(20, 30, 2), 1), key);
    int64_t others = 0;
    for (const uint8_t byte : out.image.bytes) others += byte == 2;
    EXPECT_NEAR(out.label[1], static_cast<double>(others) / 600, 1e-6);
    EXPECT_NEAR(out.label[0] + out.label[1], 1, 1e-6);
    sum += out.label[1];
  }
  EXPECT_GT(sum / 300, 0.25);
}

TEST(Mixing, WithoutMixingTheLabelBecomesAOneAtItsClass) {
  for (const std::string name : {"mixup", "cutmix"}) {
    const auto transform = image_transform(name, R"({"classes": 3, "p": 0})");
    const Picture in = noise(4, 5, 3);
    const Mixed out = mixed(*transform, labelled(in, 1), labelled(noise(4, 5, 3, 2), 2), 1);
    EXPECT_EQ(out.label, (std::vector<float>{0, 1, 0}));
    EXPECT_EQ(out.image, in);
    MemorySample alone = labelled(in, 1);
    Rng random(1);
    image_transform(name, R"({"classes": 3})")->apply(alone, random, {});
    EXPECT_EQ(alone.written<float>("label"), (std::vector<float>{0, 1, 0}));
  }
}

TEST(Mixing, TakesLabelsThatAreMixedAlready) {
  const auto mixup = image_transform("mixup", R"({"classes": 2})");
  MemorySample first = sample_of(flat(1, 1, 100));
  first.set<float>("label", {2}, {0.25F, 0.75F});
  MemorySample second = sample_of(flat(1, 1, 0));
  second.set<float>("label", {2}, {0.5F, 0.5F});
  const Mixed out = mixed(*mixup, first, second, 4);
  EXPECT_NEAR(out.label[0] + out.label[1], 1, 1e-6);
  EXPECT_NEAR(out.label[0], 0.5 - 0.25 * out.image.bytes[0] / 100.0, 0.01);
}

TEST(Mixing, NamesWhatCannotBeMixed) {
  const auto mixup = image_transform("mixup", R"({"classes": 2})");
  const Error sizes = error_of([&] { (void)mixed(*mixup, labelled(flat(2, 3, 0), 0), labelled(flat(3, 3, 0), 0), 1); });
  EXPECT_EQ(sizes.code(), ErrorCode::kData);
  EXPECT_NE(std::string(sizes.what()).find("2 x 3 x 1 and 3 x 3 x 1"), std::string::npos) << sizes.what();
  const Error label = error_of([&] { (void)mixed(*mixup, labelled(flat(1, 1, 0), 2), labelled(flat(1, 1, 0), 0), 1); });
  EXPECT_STREQ(label.what(), "\"label\" is 2, but there are 2 classes (0 to 1)");
  const Error spec = error_of([&] {
    (void)mixup->spec({{"image", Dtype::kUint8, {2, 2, 3}}, {"label", Dtype::kFloat32, {3}}});
  });
  EXPECT_EQ(spec.pointer(), "/label");
  EXPECT_EQ(to_string(mixup->spec({{"image", Dtype::kUint8, {2, 2, 3}}, {"label", Dtype::kInt64, {}}})[1]),
            "float32[2]");
}

/// A sample of one value, all of it in the mask, with a box over the whole image and one in its upper left corner.
MemorySample boxed(int64_t height, int64_t width, uint8_t value) {
  MemorySample sample = sample_of(flat(height, width, value));
  sample.set<uint8_t>("mask", {height, width}, std::vector<uint8_t>(static_cast<std::size_t>(height * width), value));
  sample.set<float>("boxes", {2, 4}, {0, 0, static_cast<float>(width), static_cast<float>(height), 0, 0, 1, 1});
  sample.set<int64_t>("classes", {2}, {value, 10 * value});
  return sample;
}

TEST(Mosaic, PutsFourSamplesAroundAPointWithTheirMasksAndBoxes) {
  const auto mosaic = image_transform("mosaic", R"({"height": 12, "width": 16, "masks": ["mask"], "boxes": "boxes",
                                                   "with_boxes": ["classes"]})");
  EXPECT_EQ(several(*mosaic).others(), 3);
  std::map<std::pair<int64_t, int64_t>, int> points;
  for (uint64_t key = 0; key < 60; ++key) {
    MemorySample sample = boxed(9, 8, 1);
    const MemorySample b = boxed(30, 20, 2);
    const MemorySample c = boxed(5, 40, 3);
    const MemorySample d = boxed(1, 1, 4);
    const std::vector<const Sample*> others{&b, &c, &d};
    Rng random(key);
    several(*mosaic).apply_with(sample, others, random, {});
    const Picture image = picture_of(sample.written_array("image"));
    EXPECT_EQ(image, picture_of(sample.written_array("mask")));
    int64_t row = 0;
    int64_t column = 0;
    while (row < 12 && image.at(row, 0) == 1) ++row;
    while (column < 16 && image.at(0, column) == 1) ++column;
    for (int64_t y = 0; y < 12; ++y) {
      for (int64_t x = 0; x < 16; ++x) ASSERT_EQ(image.at(y, x), (y >= row ? 2 : 0) + (x >= column ? 2 : 1)) << key;
    }
    EXPECT_GE(row, 3);
    EXPECT_LE(row, 9);
    EXPECT_GE(column, 4);
    EXPECT_LE(column, 12);
    ++points[{row, column}];
    // The boxes over whole images fill their quarters.
    const std::vector<float> boxes = sample.written<float>("boxes");
    const std::vector<int64_t> classes = sample.written<int64_t>("classes");
    ASSERT_EQ(boxes.size(), classes.size() * 4);
    int whole = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (classes[i] > 4) continue;
      ++whole;
      const bool right = classes[i] % 2 == 0;
      const bool below = classes[i] > 2;
      EXPECT_FLOAT_EQ(boxes[i * 4], static_cast<float>(right ? column : 0));
      EXPECT_FLOAT_EQ(boxes[i * 4 + 1], static_cast<float>(below ? row : 0));
      EXPECT_FLOAT_EQ(boxes[i * 4 + 2], static_cast<float>(right ? 16 : column));
      EXPECT_FLOAT_EQ(boxes[i * 4 + 3], static_cast<float>(below ? 12 : row));
    }
    EXPECT_EQ(whole, 4);
  }
  EXPECT_GT(points.size(), 20U);
}

TEST(Mosaic, KeepsTheShapeOfWhatItShows) {
  // The corner at the point is the image's own: of the first sample the lower right one.
  Picture in(20, 20, 1);
  for (int64_t i = 10; i < 20; ++i) {
    for (int64_t j = 10; j < 20; ++j) in.at(i, j) = 255;
  }
  const auto mosaic = image_transform("mosaic", R"({"height": 20, "width": 20, "center": [0.5, 0.5]})");
  MemorySample sample = sample_of(in);
  Rng random(1);
  mosaic->apply(sample, random, {});
  const Picture out = picture_of(sample.written_array("image"));
  EXPECT_EQ(out.at(9, 9), 255);
  EXPECT_EQ(out.at(6, 6), 255);
  EXPECT_EQ(out.at(2, 2), 0);
  EXPECT_EQ(out.at(10, 10), 0) << "the upper left corner of the fourth";
  EXPECT_EQ(out.at(19, 19), 255);
}

TEST(Mosaic, TakesASizeOfOnePixel) {
  MemorySample sample = sample_of(noise(3, 3, 3));
  Rng random(5);
  image_transform("mosaic", R"({"height": 1, "width": 1})")->apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("image"), (Shape{1, 1, 3}));
}

}  // namespace
}  // namespace tenon::test
