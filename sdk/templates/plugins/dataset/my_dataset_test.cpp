// MyDataset: what stands in the file comes out, and what does not fit is named with its line.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <tenon/components/dataset.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/samples.hpp>

namespace {

using tenon::harness::Made;
using tenon::harness::make;
using tenon::harness::MemorySample;
using tenon::harness::open;
using tenon::harness::read;
using tenon::harness::refused;

class MyDatasetTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(file_); }
  void TearDown() override { std::filesystem::remove(file_); }

  /// Over a file of this content.
  [[nodiscard]] Made<tenon::Dataset> dataset_of(const std::string& content) const {
    std::ofstream(file_) << content;
    return make<tenon::Dataset>("my_dataset", R"({"features": 3, "path": ")" + file_.string() + "\"}");
  }

  const std::filesystem::path file_ = std::filesystem::current_path() / "my_dataset_test.txt";  // ctest's build folder
};

TEST_F(MyDatasetTest, GivesTheClassAndTheFeaturesOfEachLine) {
  const auto dataset = dataset_of("1 0.5 -2 3e2\n\n0 4 5 6\n");
  open(*dataset);
  ASSERT_EQ(dataset->size(), 2);
  const MemorySample first = read(*dataset, 0);
  EXPECT_EQ(first.at("label").as<int64_t>()[0], 1);
  EXPECT_EQ(first.at("x").as<float>()[1], -2);
  EXPECT_EQ(first.at("x").as<float>()[2], 300);
  EXPECT_EQ(read(*dataset, 1).at("x").as<float>()[0], 4);
}

TEST_F(MyDatasetTest, NamesTheLineThatDoesNotFit) {
  for (const char* const bad : {"1 2 3", "1 2 3 4 5", "one 2 3 4", "-1 2 3 4", "1 2 3 4 #"}) {
    const auto dataset = dataset_of("0 1 2 3\n" + std::string(bad) + "\n");
    EXPECT_TRUE(refused([&] { open(*dataset); }, tenon::ErrorCode::kData, "", ".txt:2: expected")) << bad;
  }
}

TEST_F(MyDatasetTest, NamesAFileThatIsMissingOrEmpty) {
  const auto missing = make<tenon::Dataset>("my_dataset", R"({"path": "/no/such/file"})");
  EXPECT_TRUE(refused([&] { open(*missing); }, tenon::ErrorCode::kData, "/path", "/no/such/file"));
  const auto empty = dataset_of("\n");
  EXPECT_TRUE(refused([&] { open(*empty); }, tenon::ErrorCode::kData, "/path", "no sample"));
}

TEST_F(MyDatasetTest, HasAnotherFingerprintWhenTheDataChanges) {
  const auto fingerprint_of = [&](const std::string& content) {
    const auto dataset = dataset_of(content);
    open(*dataset);
    return dataset->fingerprint();
  };
  EXPECT_EQ(fingerprint_of("0 1 2 3\n"), fingerprint_of("0 1 2 3\n"));
  EXPECT_NE(fingerprint_of("0 1 2 3\n"), fingerprint_of("0 1 2 4\n"));
}

}  // namespace
