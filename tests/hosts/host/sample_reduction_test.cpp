// What is left of large samples: small images with the colours of the large ones, and what belongs to their pixels.
#include <host/sample_reduction.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <host/contact_sheet.hpp>
#include <host/sample_text.hpp>

namespace tenon::host {
namespace {

template <class T>
engine::ShownValue value_of(Shape shape, const std::vector<T>& numbers) {
  engine::ShownValue value;
  value.shape = std::move(shape);
  value.bytes.resize(numbers.size() * sizeof(T));
  std::memcpy(value.bytes.data(), numbers.data(), value.bytes.size());
  return value;
}

template <class T>
std::vector<T> numbers_in(const engine::ShownValue& value) {
  std::vector<T> numbers(value.bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), value.bytes.data(), value.bytes.size());
  return numbers;
}

std::vector<engine::ShownField> fields_of(const Spec& spec) {
  std::vector<engine::ShownField> fields;
  for (const FieldSpec& field : spec) fields.push_back({field, {}, {}});
  return fields;
}

/// Left half dark, right half light; red, green and blue differ.
std::vector<uint8_t> halves(int64_t height, int64_t width) {
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < height * width; ++i) {
    const int bright = i % width < width / 2 ? 0 : 200;
    for (const int channel : {10, 20, 30}) pixels.push_back(static_cast<uint8_t>(bright + channel));
  }
  return pixels;
}

TEST(SampleReduction, ALargeImageBecomesASmallOneOfTheSameColours) {
  const auto fields = fields_of({{"image", Dtype::kUint8, {"H", "W", 3}}});
  engine::ShownSample sample{0, {value_of<uint8_t>({3000, 4000, 3}, halves(3000, 4000))}, {}};
  SampleReduction(64)(fields, sample);
  const Shape& shape = sample.values[0].shape;
  ASSERT_LE(shape[1], 400);
  ASSERT_GE(shape[1], 200);
  EXPECT_EQ(shape[0] * 4, shape[1] * 3);
  const auto pixels = numbers_in<uint8_t>(sample.values[0]);
  ASSERT_EQ(static_cast<int64_t>(pixels.size()), elements(shape));
  EXPECT_EQ((std::vector<uint8_t>(pixels.begin(), pixels.begin() + 3)), (std::vector<uint8_t>{10, 20, 30}));
  EXPECT_EQ((std::vector<uint8_t>(pixels.end() - 3, pixels.end())), (std::vector<uint8_t>{210, 220, 230}));
}

TEST(SampleReduction, APixelIsTheMeanOfThoseThatItStandsForAlsoWithChannelsFirst) {
  const int64_t side = 448;  // of the largest image that one tile keeps
  const int64_t height = 2 * side;
  const auto fields = fields_of({{"image", Dtype::kFloat32, {3, "H", "W"}}});
  std::vector<float> numbers;
  for (int64_t channel = 0; channel < 3; ++channel) {
    for (int64_t i = 0; i < height * 3; ++i) numbers.push_back(static_cast<float>(channel * 10 + i % 3));
  }
  engine::ShownSample sample{0, {value_of<float>({3, height, 3}, numbers)}, {}};
  SampleReduction(1)(fields, sample);
  EXPECT_EQ(sample.values[0].shape, (Shape{3, side, 2}));
  const auto means = numbers_in<float>(sample.values[0]);
  for (int64_t channel = 0; channel < 3; ++channel) {
    const auto at = static_cast<std::size_t>(channel * side * 2);
    EXPECT_EQ(means[at], static_cast<float>(channel * 10) + 0.5F) << "of 0 and 1";
    EXPECT_EQ(means[at + 1], static_cast<float>(channel * 10) + 2) << "of what is left at the edge";
  }
}

TEST(SampleReduction, MasksAndBoxesStayOverTheirPixels) {
  const auto fields = fields_of({{"image", Dtype::kUint8, {"H", "W", 3}},
                                 {"mask", Dtype::kInt64, {"H", "W"}},
                                 {"boxes", Dtype::kFloat32, {"N", 4}},
                                 {"names", Dtype::kInt64, {"N"}}});
  const int64_t height = 1000;
  const int64_t width = 2000;
  std::vector<int64_t> mask;
  for (int64_t i = 0; i < height * width; ++i) mask.push_back(i % width < width / 2 ? 3 : 7);
  engine::DataShown shown;
  shown.fields = fields;
  shown.samples.push_back(
      {0,
       {value_of<uint8_t>({height, width, 3}, halves(height, width)), value_of<int64_t>({height, width}, mask),
        value_of<float>({1, 4}, {500, 250, 1500, 750}), value_of<int64_t>({1}, {1})},
       {}});
  SampleReduction(64)(fields, shown.samples[0]);
  const auto sheet = contact_sheet(shown);
  ASSERT_TRUE(sheet);
  const sheet::Tile& tile = sheet->tiles[0];
  ASSERT_LE(tile.image.width, 400);
  ASSERT_EQ(static_cast<int64_t>(tile.mask.size()), tile.image.height * tile.image.width);
  EXPECT_EQ(tile.mask.front(), 3);
  EXPECT_EQ(tile.mask.back(), 7);
  ASSERT_EQ(tile.boxes.size(), 1U);
  EXPECT_FLOAT_EQ(static_cast<float>(tile.boxes[0].left * 4), static_cast<float>(tile.image.width));
  EXPECT_FLOAT_EQ(static_cast<float>(tile.boxes[0].bottom * 4), static_cast<float>(tile.image.height * 3));
}

TEST(SampleReduction, AMaskOfTheReducedImagesSizeIsNotTakenForTheImagesOwn) {
  const auto fields = fields_of({{"image", Dtype::kUint8, {"H", "W", 3}}, {"mask", Dtype::kInt64, {"h", "w"}}});
  engine::DataShown shown;
  shown.fields = fields;
  shown.samples.push_back({0,
                           {value_of<uint8_t>({512, 512, 3}, halves(512, 512)),
                            value_of<int64_t>({256, 256}, std::vector<int64_t>(256 * 256, 5))},
                           {}});
  SampleReduction(64)(fields, shown.samples[0]);
  ASSERT_EQ(shown.samples[0].values[0].shape, (Shape{256, 256, 3}));
  EXPECT_EQ(numbers_of(fields[1].field, shown.samples[0].values[1], 1000), std::vector<double>(64, 5));
  const auto sheet = contact_sheet(shown);
  ASSERT_TRUE(sheet);
  EXPECT_TRUE(sheet->tiles[0].mask.empty());
}

TEST(SampleReduction, SmallImagesAndShortTextsStayAsTheyAreAndOfTheRestTheBeginning) {
  const auto fields = fields_of({{"image", Dtype::kUint8, {"H", "W", 3}},
                                 {"text", Dtype::kUint8, {Dim()}},
                                 {"long", Dtype::kUint8, {Dim()}},
                                 {"numbers", Dtype::kFloat32, {100000}}});
  const std::vector<uint8_t> text{'c', 'a', 't'};
  engine::ShownSample sample{0,
                             {value_of<uint8_t>({30, 40, 3}, halves(30, 40)), value_of<uint8_t>({3}, text),
                              value_of<uint8_t>({100000}, std::vector<uint8_t>(100000, 'a')),
                              value_of<float>({100000}, std::vector<float>(100000, 0.5F))},
                             {}};
  SampleReduction(64)(fields, sample);
  EXPECT_EQ(numbers_in<uint8_t>(sample.values[0]), halves(30, 40));
  EXPECT_EQ(numbers_in<uint8_t>(sample.values[1]), text);
  EXPECT_LT(sample.values[2].bytes.size(), 10000U);
  EXPECT_LT(sample.values[3].bytes.size(), 10000U);
  EXPECT_EQ(value_text(fields[3], sample.values[3], 2), "0.5 0.5 … (100000)");
}

TEST(SampleReduction, ASampleThatFailedStaysAsItIs) {
  engine::ShownSample sample{3, {}, "damaged"};
  SampleReduction(64)(fields_of({{"image", Dtype::kUint8, {"H", "W", 3}}}), sample);
  EXPECT_EQ(sample.failure, "damaged");
}

}  // namespace
}  // namespace tenon::host
