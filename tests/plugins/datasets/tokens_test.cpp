// dataset:tokens: blocks, targets and strides, every type, and files that are cut off or of another vocabulary.
#include <fstream>
#include <numeric>
#include <set>

#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

class Tokens : public testing::Test {
 protected:
  [[nodiscard]] Json params(const std::string& file, const std::string& dtype, int64_t block,
                            const Json& more = Json::object()) const {
    Json json{{"paths", {folder_ / file}}, {"dtype", dtype}, {"block", block}};
    json.update(more);
    return json;
  }

  template <class T>
  void write(const std::string& file, std::size_t count, T first = 0) const {
    std::vector<T> tokens(count);
    std::iota(tokens.begin(), tokens.end(), first);
    put(folder_ / file, bytes_of(tokens));
  }

  TemporaryFolder folder_;
};

using Numbers = std::vector<int64_t>;

TEST_F(Tokens, TargetsAreTheTokensThatFollow) {
  write<uint16_t>("a.bin", 10);
  const auto dataset = opened("tokens", params("a.bin", "uint16", 3));
  EXPECT_EQ(text_of(dataset->spec()), "tokens int64[3], target int64[3]");
  EXPECT_EQ(column<int64_t>(*dataset, "tokens"), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(column<int64_t>(*dataset, "target"), (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  write<uint16_t>("a.bin", 9);  // no target for the last token
  EXPECT_EQ(opened("tokens", params("a.bin", "uint16", 3))->size(), 2);
}

TEST_F(Tokens, StrideMayOverlapOrLeaveOut) {
  write<uint16_t>("a.bin", 10);
  const auto overlapping = opened("tokens", params("a.bin", "uint16", 4, {{"stride", 2}}));
  EXPECT_EQ(column<int64_t>(*overlapping, "tokens"), (Numbers{0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7}));
  const auto apart = opened("tokens", params("a.bin", "uint16", 1, {{"stride", 4}}));
  EXPECT_EQ(column<int64_t>(*apart, "target"), (Numbers{1, 5, 9}));
}

TEST_F(Tokens, AreOfEveryTypeAndFromNumpyToo) {
  const auto expect = [&](const std::string& dtype, const std::string& code, const std::string& bytes,
                          const Numbers& tokens) {
    put(folder_ / "t.bin", bytes);
    EXPECT_EQ(column<int64_t>(*opened("tokens", params("t.bin", dtype, 2)), "tokens"), tokens) << dtype;
    std::string header = "{'descr': '" + code + "', 'fortran_order': False, 'shape': (3,), }";
    header.resize(117, ' ');
    put(folder_ / "t.npy", std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + bytes);
    EXPECT_EQ(column<int64_t>(*opened("tokens", params("t.npy", dtype, 2)), "tokens"), tokens) << dtype;
  };
  expect("uint8", "|u1", bytes_of<uint8_t>({1, 255, 3}), {1, 255});
  expect("uint16", "<u2", bytes_of<uint16_t>({1, 65535, 3}), {1, 65535});
  expect("uint32", "<u4", bytes_of<uint32_t>({1, 4294967295U, 3}), {1, 4294967295});
  expect("int32", "<i4", bytes_of<int32_t>({1, -5, 3}), {1, -5});
  expect("int64", "<i8", bytes_of<int64_t>({1, int64_t{1} << 40, 3}), {1, int64_t{1} << 40});
  expect_error(refused("tokens", params("t.npy", "uint16", 2)), ErrorCode::kData, "/dtype", {"'<i8', not uint16"});
}

TEST_F(Tokens, NoItemReachesFromOneFileIntoTheNext) {
  write<uint16_t>("p-1.bin", 5);
  write<uint16_t>("p-2.bin", 2, 50);
  write<uint16_t>("p-3.bin", 7, 100);
  const auto dataset = opened("tokens", params("p-*.bin", "uint16", 2));
  EXPECT_EQ(column<int64_t>(*dataset, "tokens"), (Numbers{0, 1, 2, 3, 100, 101, 102, 103, 104, 105}));
  ASSERT_EQ(told_by(*dataset).size(), 1U);
  EXPECT_NE(told_by(*dataset)[0].find("1 of 3 files have fewer tokens"), std::string::npos);
}

TEST_F(Tokens, HeadersAreSkipped) {
  put(folder_ / "h.bin", std::string(1024, 'h') + bytes_of<uint16_t>({7, 8, 9}));
  const auto dataset = opened("tokens", params("h.bin", "uint16", 2, {{"skip_bytes", 1024}}));
  EXPECT_EQ(column<int64_t>(*dataset, "target"), (Numbers{8, 9}));
  expect_error(refused("tokens", params("h.bin", "uint16", 2, {{"skip_bytes", 5000}})), ErrorCode::kData, "/skip_bytes",
               {"has 1030 bytes"});
}

TEST_F(Tokens, BeyondTheVocabularyAreNamedWithTheirPlace) {
  put(folder_ / "v.bin", bytes_of<uint16_t>({1, 2, 3, 4, 99, 6, 7}));
  const auto dataset = opened("tokens", params("v.bin", "uint16", 2, {{"vocabulary", 50}}));
  (void)bytes_read(*dataset, 0);
  for (const int64_t index : {1, 2}) {
    expect_error(error_of([&] { (void)bytes_read(*dataset, index); }), ErrorCode::kData, "/vocabulary",
                 {"v.bin: token 4 is 99", "\"vocabulary\" has 50"});
  }
  put(folder_ / "v.bin", bytes_of<int32_t>({1, 2, -3}));
  const auto negative = opened("tokens", params("v.bin", "int32", 1, {{"vocabulary", 50}}));
  expect_error(error_of([&] { (void)bytes_read(*negative, 1); }), ErrorCode::kData, "/vocabulary", {"token 2 is -3"});
}

TEST_F(Tokens, FilesThatAreCutOffOrTooShortAreRefused) {
  put(folder_ / "odd.bin", "12345");
  expect_error(refused("tokens", params("odd.bin", "uint16", 2)), ErrorCode::kData, "/paths/0",
               {"5 bytes are no whole number of uint16"});
  write<uint16_t>("short.bin", 3);
  expect_error(refused("tokens", params("short.bin", "uint16", 3)), ErrorCode::kData, "/block",
               {"has 3 tokens, and an item takes block + 1 = 4"});
}

TEST_F(Tokens, FingerprintOfALargeFileFollowsItsSizeAndBothEnds) {
  const std::string file = folder_ / "large.bin";
  const auto print = [&] { return opened("tokens", params("large.bin", "uint16", 1024))->fingerprint(); };
  const auto write_at = [&](std::streamoff at) {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(at);
    out.put('\1');
  };
  put(file, "");
  std::filesystem::resize_file(file, 80 << 20);
  std::vector<std::string> prints{print()};
  write_at((80 << 20) - 1);
  prints.push_back(print());
  write_at(0);
  prints.push_back(print());
  std::filesystem::resize_file(file, (80 << 20) + 2);
  prints.push_back(print());
  EXPECT_EQ(std::set<std::string>(prints.begin(), prints.end()).size(), 4U);
}

TEST_F(Tokens, FingerprintFollowsTheTypeAlsoWhereSizesAreEqual) {
  put(folder_ / "a.bin", std::string(64, '\xFF'));
  std::set<std::string> prints;
  for (const char* const dtype : {"uint8", "uint16", "uint32", "int32", "int64"}) {
    prints.insert(opened("tokens", params("a.bin", dtype, 1, {{"stride", 1000}}))->fingerprint());
  }
  EXPECT_EQ(prints.size(), 5U);
}

TEST_F(Tokens, MoreFilesThanCanBeOpenAreRefused) {
  expect_error(refused("tokens", params("{1..30001}.bin", "uint16", 1)), ErrorCode::kData, "/paths",
               {"30001 files are to be read, and 30000 can be open at once: join files of tokens"});
}

TEST_F(Tokens, OfAFileOf60MegabytesTakeLittleMemory) {
  {
    std::ofstream out(folder_ / "large.bin", std::ios::binary);
    const std::string run(1'000'000, 'x');
    for (int i = 0; i < 60; ++i) out << run;
  }
  const int64_t before = own_memory();
  const auto dataset = opened("tokens", params("large.bin", "uint16", 1000));
  ASSERT_EQ(dataset->size(), 29'999);
  MemorySample sample(dataset->spec());
  for (int64_t i = 0; i < dataset->size(); ++i) dataset->read(i, sample);
  EXPECT_EQ(sample.written<int64_t>("target")[999], 'x' * 257);
  if (before >= 0) {
    EXPECT_LT(own_memory() - before, 8 * 1024);
  }
}

TEST_F(Tokens, FingerprintFollowsTokensAndBlocks) {
  write<uint16_t>("a.bin", 100);
  write<uint16_t>("b.bin", 100);
  write<uint16_t>("c.bin", 100, 1);
  const auto print = [&](const std::string& file, int64_t block) {
    return opened("tokens", params(file, "uint16", block))->fingerprint();
  };
  EXPECT_EQ(print("a.bin", 9), print("b.bin", 9));
  EXPECT_NE(print("a.bin", 9), print("c.bin", 9));
  EXPECT_NE(print("a.bin", 9), print("a.bin", 10));
}

}  // namespace
}  // namespace tenon::test
