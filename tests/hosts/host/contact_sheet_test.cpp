// Samples as tiles: pixels, masks, boxes, captions; and as text.
#include <host/contact_sheet.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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

engine::DataShown shown(Spec fields, std::vector<std::vector<engine::ShownValue>> samples) {
  engine::DataShown all;
  all.dataset = "set";
  for (FieldSpec& field : fields) all.fields.push_back({std::move(field), {}, {}});
  int64_t index = 7;
  for (auto& values : samples) all.samples.push_back({index++, std::move(values), {}});
  return all;
}

using Pixels = std::vector<uint8_t>;

TEST(ContactSheet, BytesWithChannelsLastStayAsTheyAre) {
  const Pixels pixels{0, 10, 20, 30, 40, 250};
  const auto sheet =
      contact_sheet(shown({{"image", Dtype::kUint8, {"H", "W", 3}}}, {{value_of<uint8_t>({1, 2, 3}, pixels)}}));
  ASSERT_TRUE(sheet);
  ASSERT_EQ(sheet->tiles.size(), 1U);
  EXPECT_EQ(sheet->tiles[0].image.height, 1);
  EXPECT_EQ(sheet->tiles[0].image.width, 2);
  EXPECT_EQ(sheet->tiles[0].image.pixels, pixels);
  EXPECT_EQ(sheet->tiles[0].caption, (std::vector<std::string>{"sample 7"}));
}

TEST(ContactSheet, NumbersFromZeroToOneWithChannelsFirstBecomeBytesOfPixels) {
  const std::vector<float> numbers{0, 1, 0.5F, 0.5F, 1, 0};
  const auto sheet =
      contact_sheet(shown({{"image", Dtype::kFloat32, {3, 1, 2}}}, {{value_of<float>({3, 1, 2}, numbers)}}));
  ASSERT_TRUE(sheet);
  EXPECT_EQ(sheet->tiles[0].image.pixels, (Pixels{0, 128, 255, 255, 128, 0}));
}

TEST(ContactSheet, OtherNumbersAreSpreadFromTheLeastToTheGreatestOfAllSamples) {
  const Spec fields{{"image", Dtype::kFloat32, {1, 1, 2}}};
  const auto sheet =
      contact_sheet(shown(fields, {{value_of<float>({1, 1, 2}, {-2, 0})}, {value_of<float>({1, 1, 2}, {2, 0})}}));
  ASSERT_TRUE(sheet);
  EXPECT_EQ(sheet->tiles[0].image.pixels, (Pixels{0, 128}));
  EXPECT_EQ(sheet->tiles[1].image.pixels, (Pixels{255, 128}));
}

TEST(ContactSheet, AnIntegerFieldOfTheImagesSizeIsItsMaskWithAKeyForEachClass) {
  engine::DataShown all = shown({{"image", Dtype::kUint8, {"H", "W", 1}}, {"mask", Dtype::kInt64, {"H", "W"}}},
                                {{value_of<uint8_t>({1, 3, 1}, {1, 200, 3}), value_of<int64_t>({1, 3}, {0, 2, 255})}});
  all.fields[1].categories = {"sky", "road", "car"};
  const auto sheet = contact_sheet(all);
  ASSERT_TRUE(sheet);
  EXPECT_EQ(sheet->tiles[0].mask, (Pixels{0, 2, 255}));
  ASSERT_EQ(sheet->keys.size(), 1U);
  EXPECT_EQ(sheet->keys[0].colour, 2);
  EXPECT_EQ(sheet->keys[0].text, "car");
}

TEST(ContactSheet, BoxesTakeTheClassesOfTheFieldThatHasAsMany) {
  const Spec fields{
      {"image", Dtype::kUint8, {"H", "W", 3}}, {"boxes", Dtype::kFloat32, {"N", 4}}, {"classes", Dtype::kInt64, {"N"}}};
  engine::DataShown all =
      shown(fields, {{value_of<uint8_t>({1, 1, 3}, {1, 2, 255}), value_of<float>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}),
                      value_of<int64_t>({2}, {1, 5})}});
  all.fields[2].categories = {"cat", "dog"};
  const auto sheet = contact_sheet(all);
  ASSERT_TRUE(sheet);
  const std::vector<sheet::Box>& boxes = sheet->tiles[0].boxes;
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_EQ(boxes[0].label, "dog");
  EXPECT_EQ(boxes[1].label, "5");
  EXPECT_EQ(boxes[1].left, 4);
  EXPECT_EQ(boxes[1].bottom, 7);
}

TEST(ContactSheet, CaptionsNameClassesAndFields) {
  const Spec fields{{"image", Dtype::kUint8, {1, 1, 1}},
                    {"label", Dtype::kInt64, {}},
                    {"weight", Dtype::kFloat32, {}},
                    {"text", Dtype::kUint8, {"N"}}};
  engine::DataShown all =
      shown(fields, {{value_of<uint8_t>({1, 1, 1}, {9}), value_of<int64_t>({}, {1}), value_of<float>({}, {0.25F}),
                      value_of<char>({5}, {'h', 'a', '\n', 'h', 'a'})}});
  all.fields[1].categories = {"cat", "dog"};
  const auto sheet = contact_sheet(all);
  ASSERT_TRUE(sheet);
  EXPECT_EQ(sheet->tiles[0].caption, (std::vector<std::string>{"dog", "weight 0.25", "ha ha", "sample 7"}));
}

TEST(ContactSheet, ASampleThatFailedSaysWhy) {
  engine::DataShown all = shown({{"image", Dtype::kUint8, {1, 1, 1}}}, {{value_of<uint8_t>({1, 1, 1}, {9})}});
  all.samples.push_back({31, {}, "cut.jpg is cut off"});
  const auto sheet = contact_sheet(all);
  ASSERT_TRUE(sheet);
  EXPECT_TRUE(sheet->tiles[1].image.empty());
  EXPECT_EQ(sheet->tiles[1].message, "cut.jpg is cut off");
  EXPECT_EQ(sheet->tiles[1].caption, (std::vector<std::string>{"sample 31"}));
}

TEST(ContactSheet, WithoutAnImageThereIsATable) {
  engine::DataShown all = shown({{"x", Dtype::kFloat32, {8}}, {"label", Dtype::kInt64, {}}},
                                {{value_of<float>({8}, {1, 2, 3, 4, 5, 6, 7, 8}), value_of<int64_t>({}, {0})}});
  all.fields[1].categories = {"cat"};
  EXPECT_FALSE(contact_sheet(all));
  const std::string table = sample_table(all, Console(ColorChoice::kNever));
  EXPECT_EQ(table, "  sample  x                  label\n  7       1 2 3 4 5 6 … (8)  cat\n");
}

TEST(SampleText, HalvesAreWidened) {
  const FieldSpec half{"x", Dtype::kFloat16, {4}};
  EXPECT_EQ(numbers_of(half, value_of<uint16_t>({4}, {0x3C00, 0xC000, 0x0001, 0x3555}), 4),
            (std::vector<double>{1, -2, 0x1p-24, 0.333251953125}));
  const FieldSpec brain{"x", Dtype::kBfloat16, {2}};
  EXPECT_EQ(numbers_of(brain, value_of<uint16_t>({2}, {0x3F80, 0xC000}), 2), (std::vector<double>{1, -2}));
}

}  // namespace
}  // namespace tenon::host
