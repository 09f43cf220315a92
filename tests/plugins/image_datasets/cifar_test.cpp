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

/// So many names, one a line.
std::string lines(const std::string& name, int count, const std::string& end = "\n") {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(name).append(" ").append(std::to_string(i)).append(end);
  return text;
}

TEST_F(Cifar, ClassesHaveTheNamesOfTheFilesBesideTheBatches) {
  const auto without = images_opened("cifar", params({{"split", "test"}}));
  EXPECT_EQ(categories_of(*without, "label"), std::nullopt);
  put(folder_ / "batches.meta.txt", lines("kind", 10) + "\n");  // it ends with an empty line
  const auto ten = images_opened("cifar", params({{"split", "test"}}));
  EXPECT_EQ(ten->fingerprint(), without->fingerprint()) << "samples are the same";
  const auto names = categories_of(*ten, "label");
  ASSERT_TRUE(names.has_value());
  ASSERT_EQ(names->size(), 10U);
  EXPECT_EQ(names->at(7), "kind 7");
  EXPECT_EQ(categories_of(*ten, "image"), std::nullopt);
  EXPECT_EQ(categories_of(*ten, "coarse_label"), std::nullopt);

  const Json hundred{{"variant", "cifar100"}};
  EXPECT_EQ(categories_of(*images_opened("cifar", params(hundred)), "label"), std::nullopt) << "those are of the ten";
  put(folder_ / "coarse_label_names.txt", lines("family", 20));
  const auto coarse = images_opened("cifar", params(hundred));
  EXPECT_EQ(categories_of(*coarse, "label"), std::nullopt);
  EXPECT_EQ(categories_of(*coarse, "coarse_label").value().at(3), "family 3");
  put(folder_ / "fine_label_names.txt", lines("species", 100, "\r\n"));
  const auto both = images_opened("cifar", params(hundred));
  EXPECT_EQ(categories_of(*both, "label").value().at(64), "species 64");
  EXPECT_EQ(categories_of(*both, "label").value().size(), 100U);
  EXPECT_EQ(categories_of(*both, "coarse_label").value().size(), 20U);
}

TEST_F(Cifar, RefusesAnotherNumberOfNamesThanOfClasses) {
  const auto refuses = [&](const std::string& file, const std::string& text, const Json& more,
                           const std::vector<std::string>& says) {
    put(folder_ / file, text);
    expect_error(images_refused("cifar", params(more)), ErrorCode::kData, "/path", says);
    std::filesystem::remove(folder_ / file);
  };
  refuses("batches.meta.txt", lines("kind", 9), Json::object(),
          {(folder_ / "batches.meta.txt").string() + ": holds 9 names", "there are 10 classes", "or remove it"});
  refuses("batches.meta.txt", "", Json::object(), {"holds 0 names"});
  const Json hundred{{"variant", "cifar100"}};
  refuses("fine_label_names.txt", lines("species", 20), hundred, {"holds 20 names", "100 classes"});
  refuses("coarse_label_names.txt", lines("family", 100), hundred, {"holds 100 names", "20 classes"});
}

}  // namespace
}  // namespace tenon::test
