// Stacked, padded and joined fields of batches.
#include <engine/data/collate.hpp>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <engine/data/batch_fixture.hpp>

namespace tenon::engine {
namespace {

using fakes::BatchMaker;
using fakes::error_of;
using fakes::FunctionDataset;
using fakes::FunctionTransform;
using fakes::layout_of;
using fakes::pad;
using fakes::shape_of;
using fakes::values;

// Item i has i tokens 10 i, 10 i + 1, …; i % 3 boxes of 2 numbers i; an image of i times 2 i pixels with 2 channels.
FunctionDataset captions(int64_t items = 10) {
  return FunctionDataset(items,
                         {{"tokens", Dtype::kInt32, {"T"}},
                          {"boxes", Dtype::kFloat32, {"n", 2}},
                          {"image", Dtype::kUint8, {"H", "W", 2}},
                          {"label", Dtype::kInt64, {}}},
                         [](int64_t index, Sample& out) {
                           const std::span<int32_t> tokens = out.allocate(0, Dtype::kInt32, Shape{index}).as<int32_t>();
                           std::iota(tokens.begin(), tokens.end(), static_cast<int32_t>(10 * index));
                           const Array boxes = out.allocate(1, Dtype::kFloat32, Shape{index % 3, 2});
                           std::ranges::fill(boxes.as<float>(), static_cast<float>(index));
                           const Array image = out.allocate(2, Dtype::kUint8, Shape{index, 2 * index, 2});
                           std::iota(image.as<uint8_t>().begin(), image.as<uint8_t>().end(), uint8_t{1});
                           out.allocate(3, Dtype::kInt64, {}).as<int64_t>()[0] = index;
                         });
}

class Collating : public testing::TestWithParam<int> {
 protected:
  Batch make(const std::vector<int64_t>& samples, CollateOptions options) {
    const BatchLayout layout = layout_of(stream_, 8, std::move(options));
    return BatchMaker(stream_, layout, GetParam()).make_of(samples);
  }

  FunctionDataset dataset_ = captions();
  Stream stream_{{"data", "dataset:captions", &dataset_}, {}, 7};
};
INSTANTIATE_TEST_SUITE_P(Workers, Collating, testing::Values(0, 1, 4));

TEST_P(Collating, PadsToTheLongestOfTheBatchWithLengthAndMask) {
  core::PadParams tokens = pad("tokens");
  tokens.value = -1;
  tokens.length = "tokens_length";
  tokens.mask = "tokens_mask";
  const Batch batch = make({2, 4, 0, 1}, {{tokens, pad("image")}, {"boxes"}});
  EXPECT_EQ(shape_of(batch, "tokens"), (Shape{4, 4}));
  EXPECT_EQ(values<int32_t>(batch, "tokens"),
            (std::vector<int32_t>{20, 21, -1, -1, 40, 41, 42, 43, -1, -1, -1, -1, 10, -1, -1, -1}));
  EXPECT_EQ(values<int64_t>(batch, "tokens_length"), (std::vector<int64_t>{2, 4, 0, 1}));
  EXPECT_EQ(shape_of(batch, "tokens_mask"), (Shape{4, 4}));
  EXPECT_EQ(values<bool>(batch, "tokens_mask"),
            (std::vector<bool>{true, true, false, false, true, true, true, true, false, false, false, false, true,
                               false, false, false}));
  EXPECT_EQ(values<int64_t>(batch, "label"), (std::vector<int64_t>{2, 4, 0, 1}));
}

TEST_P(Collating, PadsAllFreeAxesOfAFieldInPlace) {
  core::PadParams image = pad("image");
  image.value = 255;
  image.multiple = 3;
  image.length = "size";
  image.mask = "inside";
  const Batch batch = make({1, 2}, {{pad("tokens"), image}, {"boxes"}});
  EXPECT_EQ(shape_of(batch, "image"), (Shape{2, 3, 6, 2}));
  std::vector<uint8_t> expected(2 * 3 * 6 * 2, 255);
  for (uint8_t i = 0; i < 4; ++i) {
    expected[i] = static_cast<uint8_t>(i + 1);
  }
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t i = 0; i < 8; ++i) {
      expected[36 + row * 12 + i] = static_cast<uint8_t>(row * 8 + i + 1);
    }
  }
  EXPECT_EQ(values<uint8_t>(batch, "image"), expected);
  EXPECT_EQ(shape_of(batch, "size"), (Shape{2, 2}));
  EXPECT_EQ(values<int64_t>(batch, "size"), (std::vector<int64_t>{1, 2, 2, 4}));
  EXPECT_EQ(shape_of(batch, "inside"), (Shape{2, 3, 6}));
  std::vector<bool> inside(36);
  for (const std::size_t i : {0U, 1U, 18U, 19U, 20U, 21U, 24U, 25U, 26U, 27U}) {
    inside[i] = true;
  }
  EXPECT_EQ(values<bool>(batch, "inside"), inside);
}

TEST_P(Collating, PadsToAGivenSize) {
  core::PadParams tokens = pad("tokens");
  tokens.to = 5;
  tokens.value = 7;
  tokens.length = "length";
  tokens.mask = "mask";
  core::PadParams image = pad("image");
  image.to = 4;
  const Batch batch = make({1, 2, 0}, {{tokens, image}, {"boxes"}});
  EXPECT_EQ(shape_of(batch, "tokens"), (Shape{3, 5}));
  EXPECT_EQ(values<int32_t>(batch, "tokens"), (std::vector<int32_t>{10, 7, 7, 7, 7, 20, 21, 7, 7, 7, 7, 7, 7, 7, 7}));
  EXPECT_EQ(values<int64_t>(batch, "length"), (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(values<bool>(batch, "mask"), (std::vector<bool>{true, false, false, false, false, true, true, false, false,
                                                            false, false, false, false, false, false}));
  EXPECT_EQ(shape_of(batch, "image"), (Shape{3, 4, 4, 2}));
}

TEST_P(Collating, ASampleLargerThanTheGivenSizeIsNamed) {
  core::PadParams tokens = pad("tokens");
  tokens.to = 3;
  EXPECT_EQ(
      error_of(ErrorCode::kData,
               [&] {
                 (void)make({1, 4, 5, 2}, {{tokens, pad("image")}, {"boxes"}});
               }),
      "\"data\" (dataset:captions), sample 4 of \"data\", epoch 0: field \"tokens\" has 4 on axis 0, more than the "
      "3 to which it is padded");
}

TEST_P(Collating, JoinsListsAndKeepsTheirLengths) {
  const Batch batch = make({4, 3, 5, 8}, {{pad("image")}, {"boxes", "tokens"}});
  EXPECT_EQ(shape_of(batch, "boxes"), (Shape{5, 2}));
  EXPECT_EQ(values<float>(batch, "boxes"), (std::vector<float>{4, 4, 5, 5, 5, 5, 8, 8, 8, 8}));
  EXPECT_EQ(values<int64_t>(batch, "boxes_lengths"), (std::vector<int64_t>{1, 0, 2, 2}));
  EXPECT_EQ(shape_of(batch, "tokens"), (Shape{20}));
  EXPECT_EQ(values<int64_t>(batch, "tokens_lengths"), (std::vector<int64_t>{4, 3, 5, 8}));
}

TEST_P(Collating, NoSampleAtAllStillGivesEveryField) {
  core::PadParams tokens = pad("tokens");
  tokens.length = "length";
  tokens.mask = "mask";
  tokens.to = 6;
  const Batch batch = make({}, {{tokens, pad("image")}, {"boxes"}});
  EXPECT_EQ(batch.samples, 0);
  EXPECT_EQ(shape_of(batch, "tokens"), (Shape{0, 6}));
  EXPECT_EQ(shape_of(batch, "mask"), (Shape{0, 6}));
  EXPECT_EQ(shape_of(batch, "length"), (Shape{0}));
  EXPECT_EQ(shape_of(batch, "image"), (Shape{0, 0, 0, 2}));
  EXPECT_EQ(shape_of(batch, "boxes"), (Shape{0, 2}));
  EXPECT_EQ(shape_of(batch, "boxes_lengths"), (Shape{0}));
  EXPECT_EQ(shape_of(batch, "label"), (Shape{0}));
}

TEST_P(Collating, FieldsComeAsTheGraphTypesThem) {
  core::PadParams tokens = pad("tokens");
  tokens.length = "length";
  core::PadParams image = pad("image");
  image.to = 20;
  image.mask = "mask";
  image.length = "size";
  const CollateOptions options{{tokens, image}, {"boxes"}};
  const BatchLayout layout = layout_of(stream_, 8, options);
  const Spec expected = core::batch_fields(options.pad, options.lists, stream_.fields());
  ASSERT_EQ(layout.outputs.size(), expected.size());
  const Batch batch = make({3, 6}, options);
  ASSERT_EQ(batch.fields.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(batch.fields[i].name, expected[i].name);
    EXPECT_EQ(batch.fields[i].dtype, expected[i].dtype);
    ASSERT_EQ(batch.fields[i].shape.size(), expected[i].shape.size()) << expected[i].name;
    for (std::size_t axis = 0; axis < expected[i].shape.size(); ++axis) {
      const Dim& dim = expected[i].shape[axis];
      EXPECT_TRUE(!dim.fixed() || dim.size == batch.fields[i].shape[axis]) << to_string(expected[i]);
    }
  }
}

TEST_P(Collating, TextsArePaddedByBytes) {
  const std::vector<std::string> words{"salt", "", "pepper"};
  const FunctionDataset dataset(3, {{"word", Dtype::kUint8, {Dim()}}}, [&](int64_t index, Sample& out) {
    const std::string& word = words[static_cast<std::size_t>(index)];
    const Array array = out.allocate(0, Dtype::kUint8, Shape{static_cast<int64_t>(word.size())});
    std::copy(word.begin(), word.end(), array.as<uint8_t>().begin());
  });
  const Stream stream({"data", "dataset:words", &dataset}, {}, 7);
  core::PadParams word = pad("word");
  word.length = "word_length";
  const BatchLayout layout = layout_of(stream, 3, {{word}, {}});
  const Batch batch = BatchMaker(stream, layout, GetParam()).make_of({0, 1, 2});
  const std::vector<uint8_t> bytes = values<uint8_t>(batch, "word");
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()),
            std::string("salt\0\0", 6) + std::string(6, '\0') + std::string("pepper"));
  EXPECT_EQ(values<int64_t>(batch, "word_length"), (std::vector<int64_t>{4, 0, 6}));
}

TEST_P(Collating, BehindATransformThatHandsFieldsOnIsTheSame) {
  const FunctionTransform pass([](Sample&, Rng&, const When&) {});
  const Stream through({"data", "dataset:captions", &dataset_}, {{"pass", "transform:pass", &pass}}, 7);
  core::PadParams tokens = pad("tokens");
  tokens.to = 9;
  const CollateOptions options{{tokens, pad("image")}, {"boxes"}};
  const BatchLayout layout = layout_of(through, 8, options);
  EXPECT_EQ(fakes::copy_of(BatchMaker(through, layout, GetParam()).make_of({5, 1, 9, 3})),
            fakes::copy_of(make({5, 1, 9, 3}, options)));
}

TEST_P(Collating, ValuesOfAListDifferOnTheFirstAxisAlone) {
  EXPECT_EQ(
      error_of(ErrorCode::kData,
               [&] {
                 (void)make({3, 3, 2}, {{pad("tokens")}, {"image", "boxes"}});
               }),
      "field \"image\" has different shapes within batch 0 of epoch 0 of \"data\": sample 2 has [2, 4, 2], sample "
      "3, the first of the batch, has [3, 6, 2]; values of a list differ on their first axis alone: crop or resize "
      "the others to one size");
}

TEST_P(Collating, WithoutRulesProposesThemByName) {
  EXPECT_EQ(
      error_of(ErrorCode::kData,
               [&] {
                 (void)make({4, 4, 1}, {{pad("image")}, {"boxes"}});
               }),
      "field \"tokens\" has different shapes within batch 0 of epoch 0 of \"data\": sample 1 has [1], sample 4, the "
      "first of the batch, has [4]; crop or resize them to one shape, or give the loader \"pad\": [{ \"field\": "
      "\"tokens\" }] or \"lists\": [\"tokens\"]");
  EXPECT_EQ(
      error_of(ErrorCode::kData,
               [&] {
                 (void)make({4, 1}, {{pad("tokens")}, {"boxes"}});
               }),
      "field \"image\" has different shapes within batch 0 of epoch 0 of \"data\": sample 1 has [1, 2, 2], sample "
      "4, the first of the batch, has [4, 8, 2]; crop or resize them to one shape, or give the loader \"pad\": [{ "
      "\"field\": \"image\" }]");
}

// All in one slot: nothing of an earlier, larger batch may show through.
TEST_P(Collating, ASlotIsUsedAgainForBatchesOfOtherSizes) {
  core::PadParams tokens = pad("tokens");
  tokens.mask = "mask";
  const BatchLayout layout = layout_of(stream_, 8, {{tokens, pad("image")}, {"boxes"}});
  BatchMaker maker(stream_, layout, GetParam());
  for (const std::vector<int64_t>& samples :
       std::vector<std::vector<int64_t>>{{9, 8, 7}, {1, 0}, {2, 5, 1, 3}, {0}, {9}}) {
    EXPECT_EQ(fakes::copy_of(maker.make_of(samples)), fakes::copy_of(BatchMaker(stream_, layout, 0).make_of(samples)));
  }
}

// After the first batches neither slots nor jobs ask for memory of the size of samples.
TEST(CollatingMemory, AsksTheAllocatorForNothingInSteadyState) {
  const FunctionDataset dataset = captions(10);
  const Stream stream({"data", "dataset:captions", &dataset}, {}, 7);
  const BatchLayout layout = layout_of(stream, 8, {{pad("tokens"), pad("image")}, {"boxes"}});
  int asked = 0;
  const auto slots = std::make_shared<SlotPool>(layout.outputs.size(), [&](std::size_t bytes) {
    ++asked;
    return host_memory(bytes);
  });
  std::deque<Worker> workers(1);
  TaskPool pool(0);
  std::size_t bytes = 0;
  for (int batch = 0; batch < 20; ++batch) {
    if (batch == 2) {
      asked = 0;
      bytes = slots->acquire()->bytes();
    }
    BatchJob::Request request;
    request.samples = {9, 1, 2, 3, 4, 5, 6, 8};
    pool.submit(std::make_shared<BatchJob>(stream, layout, workers, slots->acquire(), request));
    (void)static_cast<BatchJob&>(*pool.take()).finish();
  }
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(slots->acquire()->bytes(), bytes);
  EXPECT_GT(bytes, 8U * 9 * 18 * 2) << "the padded image";
}

TEST(CollatingMemory, SizesThatGrowALittleAskSeldom) {
  int asked = 0;
  BatchSlot slot(1, [&](std::size_t bytes) {
    ++asked;
    return host_memory(bytes);
  });
  for (std::size_t bytes = 1000; bytes < 2000; bytes += 10) {
    std::memset(slot.reserve(0, bytes), 1, bytes);
    EXPECT_GE(slot.bytes(), bytes);
  }
  EXPECT_LE(asked, 5);
}

TEST(BatchLayout, RefusesRulesThatContradictTheFields) {
  const Spec fields{{"tokens", Dtype::kInt32, {"T"}}, {"label", Dtype::kInt64, {}}};
  const auto refused = [&](const CollateOptions& options, const std::string& pointer) {
    try {
      const BatchLayout layout(fields, 4, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kConfig);
      EXPECT_EQ(error.pointer(), pointer);
      return std::string(error.what());
    }
    ADD_FAILURE() << "no error";
    return std::string();
  };
  EXPECT_EQ(refused({{pad("tokns")}, {}}, "/pad/0/field"), "there is no field \"tokns\" in the samples");
  EXPECT_EQ(refused({{pad("tokens"), pad("label")}, {}}, "/pad/1/field"),
            "field \"label\" is int64[]: all samples have this shape, so none is padded");
  EXPECT_EQ(refused({{}, {"label"}}, "/lists/0"),
            "field \"label\" is int64[]: it has no axis along which samples could be joined");
}

TEST(Padding, FillsEveryPlaceOfEveryType) {
  const std::vector<int16_t> value{1, 2, 3, 4, 5, 6};
  std::vector<int16_t> place(3 * 2 * 4, 99);
  copy_padded(reinterpret_cast<std::byte*>(place.data()), Shape{3, 2, 4},
              reinterpret_cast<const std::byte*>(value.data()), Shape{2, 1, 3}, element_of(-2, Dtype::kInt16));
  EXPECT_EQ(place, (std::vector<int16_t>{1,  2,  3,  -2, -2, -2, -2, -2, 4,  5,  6,  -2,
                                         -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2}));
}

TEST(Padding, NumbersBecomeTheElementsOfTheirType) {
  const auto bits16 = [](double value, Dtype dtype) {
    uint16_t bits = 0;
    std::memcpy(&bits, element_of(value, dtype).bytes.data(), sizeof bits);
    return bits;
  };
  EXPECT_EQ(bits16(1, Dtype::kFloat16), 0x3c00);
  EXPECT_EQ(bits16(-2.5, Dtype::kFloat16), 0xc100);
  EXPECT_EQ(bits16(65504, Dtype::kFloat16), 0x7bff);
  EXPECT_EQ(bits16(0, Dtype::kFloat16), 0);
  EXPECT_EQ(bits16(0x1p-24, Dtype::kFloat16), 1);
  EXPECT_EQ(bits16(0x1p-14, Dtype::kFloat16), 0x0400);
  EXPECT_EQ(bits16(1 + 0x1p-11, Dtype::kFloat16), 0x3c00) << "ties to even";
  EXPECT_EQ(bits16(1 + 3 * 0x1p-11, Dtype::kFloat16), 0x3c02);
  EXPECT_EQ(bits16(1, Dtype::kBfloat16), 0x3f80);
  EXPECT_EQ(bits16(-100, Dtype::kBfloat16), 0xc2c8);
  EXPECT_EQ(bits16(1 + 0x1p-8, Dtype::kBfloat16), 0x3f80);
  EXPECT_EQ(bits16(-100, Dtype::kInt16), 0xff9c);
  double wide = 0;
  std::memcpy(&wide, element_of(0.1, Dtype::kFloat64).bytes.data(), sizeof wide);
  EXPECT_EQ(wide, 0.1);
  EXPECT_EQ(element_of(-1, Dtype::kInt64).size, 8U);
}

}  // namespace
}  // namespace tenon::engine
