// dataset:text_lines: lines as they are, across files, and texts that are none.
#include <fstream>
#include <limits>

#include <plugins/datasets/packed.hpp>
#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

class TextLines : public testing::Test {
 protected:
  [[nodiscard]] Json params(const std::vector<std::string>& files, const Json& more = Json::object()) const {
    Json json{{"paths", Json::array()}};
    for (const std::string& file : files) json["paths"].push_back(folder_ / file);
    json.update(more);
    return json;
  }

  static std::vector<std::string> lines(const Dataset& dataset) {
    std::vector<std::string> all;
    for (int64_t i = 0; i < dataset.size(); ++i) {
      const std::vector<std::byte> bytes = bytes_read(dataset, i)[0];
      all.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return all;
  }

  [[nodiscard]] std::vector<std::string> lines_of(const std::string& text, const Json& more = Json::object()) const {
    put(folder_ / "a.txt", text);
    return lines(*opened("text_lines", params({"a.txt"}, more)));
  }

  TemporaryFolder folder_;
};

using Texts = std::vector<std::string>;

TEST_F(TextLines, EndWithEitherLineEndOrTheFile) {
  for (const char* const text : {"one\n\n three \n", "one\r\n\r\n three \r\n", "one\n\n three "}) {
    EXPECT_EQ(lines_of(text), (Texts{"one", "", " three "}));
    EXPECT_EQ(lines_of(text, {{"strip", true}}), (Texts{"one", "", "three"}));
    EXPECT_EQ(lines_of(text, {{"empty", "skip"}}), (Texts{"one", " three "}));
  }
  EXPECT_EQ(lines_of("  \t\nx", {{"strip", true}, {"empty", "skip"}}), (Texts{"x"}));
  EXPECT_EQ(lines_of("\xEF\xBB\xBFmarked\n"), (Texts{"marked"}));
  EXPECT_EQ(lines_of("\n"), (Texts{""}));
  EXPECT_EQ(lines_of("one"), (Texts{"one"}));
  EXPECT_EQ(lines_of("one\rtwo\r"), (Texts{"one\rtwo"}));  // an end of lines that nobody writes any more
  EXPECT_EQ(lines_of(std::string("a\0b\n", 4)), (Texts{std::string("a\0b", 3)}));
  EXPECT_EQ(lines_of("one\n", {{"max_bytes", std::numeric_limits<int64_t>::max()}}), (Texts{"one"}));
}

TEST_F(TextLines, OfSeveralFilesStandInTheOrderOfTheListAndOfNumbersInNames) {
  put(folder_ / "part-2.txt", "c\nd");
  put(folder_ / "part-10.txt", "e\n");
  put(folder_ / "part-1.txt", "a\nb\n");
  put(folder_ / "none.txt", "");
  EXPECT_EQ(lines(*opened("text_lines", params({"part-*.txt"}))), (Texts{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(lines(*opened("text_lines", params({"part-10.txt", "none.txt", "part-{1..2}.txt"}))),
            (Texts{"e", "a", "b", "c", "d"}));
  EXPECT_EQ(lines(*opened("text_lines", params({"part-{10,2}.txt"}))), (Texts{"e", "c", "d"}));
  expect_error(refused("text_lines", params({"part-1.txt", "other-*.txt"})), ErrorCode::kData, "/paths/1",
               {"other-*.txt: no file matches"});
  expect_error(refused("text_lines", params({"part-{1..3}.txt"})), ErrorCode::kData, "/paths/0",
               {"part-3.txt", "No such file"});
}

TEST_F(TextLines, PatternsOfMoreNamesThanAnyFolderHasAreRefusedAtOnce) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "{a,b}";
  for (const std::string& each : {pattern, std::string("{1..2000}-{1..2000}.txt")}) {
    expect_error(refused("text_lines", params({each})), ErrorCode::kData, "/paths/0",
                 {"stands for more than 1000000 files"});
  }
}

TEST_F(TextLines, AreCutBetweenCharactersAndCounted) {
  put(folder_ / "a.txt", "äöü\nab\n\n€€\n");
  const auto dataset = opened("text_lines", params({"a.txt"}, {{"max_bytes", 3}, {"empty", "skip"}}));
  EXPECT_EQ(lines(*dataset), (Texts{"ä", "ab", "€"}));
  const Texts told = told_by(*dataset);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_NE(told[0].find("1 empty lines were left out"), std::string::npos);
  EXPECT_NE(told[1].find("2 lines are longer than 3 bytes"), std::string::npos);
  const auto lengths = ability<Columns>(*dataset)->lengths("text");
  EXPECT_EQ(lengths, (std::vector<int64_t>{2, 2, 3}));
}

TEST_F(TextLines, ThatAreNoUtf8AreRefusedWithTheirPlaceUnlessTheyAreBytes) {
  put(folder_ / "a.txt", "one\nt\xFFo\n");
  expect_error(refused("text_lines", params({"a.txt"})), ErrorCode::kData, "/paths/0",
               {"a.txt:2:2: this is no UTF-8", "\"encoding\": \"bytes\""});
  EXPECT_EQ(lines(*opened("text_lines", params({"a.txt"}, {{"encoding", "bytes"}}))), (Texts{"one", "t\xFFo"}));
  put(folder_ / "a.txt", std::string("\xFF\xFEo\0n\0", 6));
  expect_error(refused("text_lines", params({"a.txt"})), ErrorCode::kData, "/paths/0", {"UTF-16"});
  put(folder_ / "a.txt", gzip("one\n"));
  expect_error(refused("text_lines", params({"a.txt"})), ErrorCode::kData, "/paths/0", {"packed by gzip", "gunzip"});
  for (const char* const none : {"", "\xEF\xBB\xBF"}) {
    put(folder_ / "a.txt", none);
    expect_error(refused("text_lines", params({"a.txt"})), ErrorCode::kData, "/paths/0", {"there are no lines"});
  }
  expect_error(refused("text_lines", params({"."})), ErrorCode::kData, "/paths/0", {"is a folder"});
}

TEST_F(TextLines, FingerprintFollowsTheTextAndWhatIsTakenOfIt) {
  put(folder_ / "a.txt", "one\ntwo\n");
  put(folder_ / "b.txt", "one\ntwo\n");
  put(folder_ / "c.txt", "one\ntwx\n");
  const auto print = [&](const std::string& file, const Json& more = Json::object()) {
    return opened("text_lines", params({file}, more))->fingerprint();
  };
  EXPECT_EQ(print("a.txt"), print("b.txt"));
  EXPECT_NE(print("a.txt"), print("c.txt"));
  EXPECT_NE(print("a.txt"), print("a.txt", {{"strip", true}}));
  EXPECT_NE(print("a.txt"), print("a.txt", {{"max_bytes", 2}}));
  EXPECT_NE(print("a.txt"), print("a.txt", {{"encoding", "bytes"}}));  // which cuts within characters
}

TEST_F(TextLines, OfMoreFilesThanCanBeOpenAreRefused) {
  expect_error(refused("text_lines", params({"{1..30000}.txt", "a.txt"})), ErrorCode::kData, "/paths",
               {"30001 files are to be read, and 30000 can be open at once: join texts"});
}

TEST_F(TextLines, OfAFileOf60MegabytesTakeTheMemoryOfTheirIndexAlone) {
  constexpr int64_t kLines = 600'000;
  {
    std::ofstream out(folder_ / "large.txt", std::ios::binary);
    const std::string line(99, 'x');
    for (int64_t i = 0; i < kLines; ++i) out << line << '\n';
  }
  const int64_t before = own_memory();
  const auto dataset = opened("text_lines", params({"large.txt"}));
  ASSERT_EQ(dataset->size(), kLines);
  MemorySample sample(dataset->spec());
  for (int64_t i = 0; i < kLines; ++i) dataset->read(i, sample);
  EXPECT_EQ(sample.written<uint8_t>("text").size(), 99U);
  if (before >= 0) {
    EXPECT_LT(own_memory() - before, kLines * 8 / 1024 + 8 * 1024);
  }
}

}  // namespace
}  // namespace tenon::test
