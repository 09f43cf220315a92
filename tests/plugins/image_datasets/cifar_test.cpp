// dataset:cifar: records of the binary version to the byte, in both layouts, and files that are none.
#include <tenon/components/in_memory.hpp>

#include <plugins/image_datasets/images.hpp>

namespace tenon::test {
namespace {

constexpr std::size_t kPixels = std::size_t{32} * 32;

/// A record: its labels, then an image whose bytes depend on channel, place and `seed`.
std::string record(const std::string& labels, int seed) {
  std::string text = labels;
  for (std::size_t i = 0; i < 3 * kPixels; ++i)
    text += static_cast<char>((i * 7 + static_cast<std::size_t>(seed)) % 251);
  return text;
}

class Cifar : public testing::Test {
 protected:
  Cifar() {
    for (int i = 1; i <= 5; ++i) {
      const std::string number = std::to_string(i);
      put(folder_ / ("data_batch_" + number + ".bin"), record(std::string(1, static_cast<char>(i)), i));
    }
    put(folder_ / "test_batch.bin", record("\7", 10) + record("\2", 11));
    put(folder_ / "train.bin", record("\3\x40", 1));
    put(folder_ / "test.bin", record("\4\x10", 2));
  }

  [[nodiscard]] Json params(const Json& more = Json::object()) const {
    Json json{{"path", folder_ / ""}};
    json.update(more);
    return json;
  }

  TemporaryFolder folder_;
};

TEST_F(Cifar, SaysItsFieldsBeforeThereAreFiles) {
  EXPECT_EQ(text_of(images_made("cifar", {{"path", "none"}})->spec()), "image uint8[32, 32, 3], label int64[]");
  EXPECT_EQ(
      text_of(images_made("cifar", {{"path", "none"}, {"variant", "cifar100"}, {"layout", "channels_first"}})->spec()),
      "image uint8[3, 32, 32], label int64[], coarse_label int64[]");
}

TEST_F(Cifar, ReadsTheFiveBatchesOfTrainingInOrder) {
  const auto dataset = images_opened("cifar", params());
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{1, 2, 3, 4, 5}));
}

TEST_F(Cifar, BothLayoutsHoldTheSamePixels) {
  const auto last = images_opened("cifar", params({{"split", "test"}}));
  const auto first = images_opened("cifar", params({{"split", "test"}, {"layout", "channels_first"}}));
  const std::string bytes = record("", 11);
  EXPECT_EQ(field_of<uint8_t>(*first, 1, "image"), std::vector<uint8_t>(bytes.begin(), bytes.end()));
  const auto pixels = field_of<uint8_t>(*last, 1, "image");
  for (std::size_t i = 0; i < kPixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      ASSERT_EQ(pixels[3 * i + c], static_cast<uint8_t>(bytes[c * kPixels + i])) << i << " " << c;
    }
  }
  EXPECT_NE(last->fingerprint(), first->fingerprint());
}

TEST_F(Cifar, HasTwoLabelsInTheVariantOfAHundred) {
  const auto dataset = images_opened("cifar", params({{"variant", "cifar100"}}));
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{64}));
  EXPECT_EQ(column<int64_t>(*dataset, "coarse_label"), (std::vector<int64_t>{3}));
  const auto* const columns = ability<Columns>(*dataset);
  EXPECT_EQ(columns->column("label"), (std::vector<double>{64}));
  EXPECT_EQ(columns->column("coarse_label"), (std::vector<double>{3}));
}

TEST_F(Cifar, ShowsInMemoryWhatItReads) {
  const auto dataset = images_opened("cifar", params({{"variant", "cifar100"}, {"split", "test"}}));
  const auto* const memory = ability<InMemory>(*dataset);
  ASSERT_TRUE(memory->can_view());
  std::vector<const std::byte*> fields(3);
  memory->view(0, fields);
  const auto image = field_of<uint8_t>(*dataset, 0, "image");
  EXPECT_EQ(std::memcmp(fields[0], image.data(), image.size()), 0);
  EXPECT_EQ(*reinterpret_cast<const int64_t*>(fields[1]), 16);
  EXPECT_EQ(*reinterpret_cast<const int64_t*>(fields[2]), 4);
}

TEST_F(Cifar, RefusesFilesThatAreCutOffOrOfTheOtherVariant) {
  put(folder_ / "test_batch.bin", record("\7", 10).substr(1));
  expect_error(images_refused("cifar", params({{"split", "test"}})), ErrorCode::kData, "/path",
               {"test_batch.bin", "has 3072 bytes", "records of 3073"});
  put(folder_ / "test_batch.bin", record("\3\x10", 1));
  expect_error(images_refused("cifar", params({{"split", "test"}})), ErrorCode::kData, "/path", {"other variant"});
  put(folder_ / "test_batch.bin", "");
  expect_error(images_refused("cifar", params({{"split", "test"}})), ErrorCode::kData, "/path", {"has 0 bytes"});
  put(folder_ / "test_batch.bin", record("\7", 1) + record("\x0A", 1));
  expect_error(images_refused("cifar", params({{"split", "test"}})), ErrorCode::kData, "/path",
               {"record 1 has the label 10", "10 classes"});
  std::filesystem::remove(folder_ / "data_batch_3.bin");
  expect_error(images_refused("cifar", params()), ErrorCode::kData, "/path", {"data_batch_3.bin", "No such file"});
}

}  // namespace
}  // namespace tenon::test
