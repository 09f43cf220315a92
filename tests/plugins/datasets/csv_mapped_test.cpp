// dataset:csv out of memory: the same items as loaded, faults told when they are read, and little memory.
#include <chrono>
#include <fstream>
#include <iostream>
#include <random>

#include <plugins/datasets/packed.hpp>
#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

class CsvMapped : public testing::Test {
 protected:
  [[nodiscard]] Json params(const std::string& memory, const Json& more = Json::object()) const {
    Json json{{"path", path_},
              {"memory", memory},
              {"fields",
               {{{"name", "x"}, {"columns", {"b", "a"}}},
                {{"name", "n"}, {"type", "integer"}},
                {{"name", "t"}, {"type", "text"}}}}};
    json.update(more);
    return json;
  }

  [[nodiscard]] Made<Dataset> mapped(const std::string& text, const Json& more = Json::object()) const {
    put(path_, text);
    return opened("csv", params("mapped", more));
  }

  void expect_same(const std::string& text, const Json& more = Json::object()) const {
    put(path_, text);
    const auto loaded = opened("csv", params("loaded", more));
    const auto dataset = opened("csv", params("mapped", more));
    EXPECT_EQ(text_of(dataset->spec()), text_of(loaded->spec()));
    ASSERT_EQ(dataset->size(), loaded->size());
    EXPECT_EQ(told_by(*dataset), told_by(*loaded));
    for (int64_t i = 0; i < dataset->size(); ++i) ASSERT_EQ(bytes_read(*dataset, i), bytes_read(*loaded, i)) << i;
    EXPECT_EQ(ability<Columns>(*dataset)->column("n"), ability<Columns>(*loaded)->column("n"));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "data.csv";
};

/// Rows in which quotes, delimiters and line ends lie within cells.
std::string table(int rows, const std::string& end) {
  std::mt19937_64 random(static_cast<uint64_t>(rows));
  const std::vector<std::string> texts{"plain",    "\"a, b\"", "\"two\nlines\"", "\"say \"\"hi\"\"\"", "\"\"",
                                       "\"\r\n\"", "ünï",      "\"\"\"\""};
  std::string text = "a,n,t,b,unused" + end;
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i) + ".5," + std::to_string(i % 7) + "," + texts[random() % texts.size()] + ",-" +
            std::to_string(i) + ",\"x\"" + end;
  }
  return text;
}

TEST_F(CsvMapped, GivesWhatLoadingGives) {
  for (const char* const end : {"\n", "\r\n"}) {
    for (const int rows : {1, 2, 15, 16, 17, 33, 400}) {
      expect_same(table(rows, end));
      expect_same("\xEF\xBB\xBF" + table(rows, end) + end);
    }
  }
  std::string without_end = table(20, "\n");
  without_end.pop_back();
  expect_same(without_end);
}

TEST_F(CsvMapped, SkipsRowsThatLackAValueAsLoadingDoes) {
  std::string text = "a,n,t,b\n";
  for (int i = 0; i < 300; ++i) {
    text += i % 3 == 1 ? "NA,1,t,2\n" : i % 7 == 2 ? "1,1,,2\n" : std::to_string(i) + ",2,\"a\nb\",3\n";
  }
  expect_same(text, {{"missing", "skip"}});
  put(path_, "a,n,t,b\n,1,t,1\n,1,t,1\n");
  expect_error(refused("csv", params("mapped", {{"missing", "skip"}})), ErrorCode::kData, "/path",
               {"all 2 rows lack a value"});
}

TEST_F(CsvMapped, TellsFaultsOfARowWhenItIsReadWithItsPlace) {
  const auto dataset = mapped("a,n,t,b\n1,2,\"x\ny\",4\n1,two,z,4\n1,2,z\n,2,z,4\n1,2,z,1e300\n1,3,z,5\n");
  ASSERT_EQ(dataset->size(), 6);
  const auto error = [&](int64_t index) { return error_of([&] { (void)bytes_read(*dataset, index); }); };
  EXPECT_EQ(bytes_read(*dataset, 0)[2].size(), 3U);
  expect_error(error(1), ErrorCode::kData, "/path", {path_ + ":4:3: column \"n\": \"two\" is no integer"});
  expect_error(error(2), ErrorCode::kData, "/path", {path_ + ":5:1: the row has 3 cells, but the header has 4"});
  expect_error(error(3), ErrorCode::kData, "/path", {path_ + ":6:1: column \"a\" is empty"});
  expect_error(error(4), ErrorCode::kData, "/path", {path_ + ":7:7: column \"b\"", "out of the range of float32"});
  EXPECT_EQ(bytes_read(*dataset, 5)[1].size(), 8U);
  expect_error(error_of([&] { (void)ability<Columns>(*dataset)->column("n"); }), ErrorCode::kData, "/path",
               {":4:3: column \"n\""});
}

TEST_F(CsvMapped, TellsFaultsOfTheFileWhenItIsOpened) {
  const auto fault = [&](const std::string& text) {
    put(path_, text);
    return refused("csv", params("mapped"));
  };
  expect_error(fault(""), ErrorCode::kData, "/path", {"is empty"});
  expect_error(fault("a,n,t,b\n"), ErrorCode::kData, "/path", {"has a header, but no rows"});
  expect_error(fault("a,n,t,c\n1,2,3,4\n"), ErrorCode::kData, "/fields/0/columns/0", {"has no column \"b\""});
  expect_error(fault("a,n,t,b\n1,2,\"3,4\n1,2,3,4\n"), ErrorCode::kData, "/path", {path_ + ":2:1:", "never closed"});
  expect_error(fault("a,n,t,b\n1,2,\xC3,4\n"), ErrorCode::kData, "/path", {path_ + ":2:5: this is no UTF-8"});
}

TEST_F(CsvMapped, PackedTablesAreLoadedAndNeverMapped) {
  const std::string text = table(50, "\n");
  put(path_, text);
  const auto plain = opened("csv", params("loaded"));
  put(path_, gzip(text));
  for (const char* const memory : {"auto", "loaded"}) {
    const auto packed = opened("csv", params(memory));
    ASSERT_EQ(packed->size(), 50);
    for (int64_t i = 0; i < 50; ++i) ASSERT_EQ(bytes_read(*packed, i), bytes_read(*plain, i));
    EXPECT_EQ(packed->fingerprint(), plain->fingerprint());
  }
  expect_error(refused("csv", params("mapped")), ErrorCode::kData, "/memory",
               {"packed by gzip", "gunzip", "\"memory\": \"loaded\""});
}

TEST_F(CsvMapped, FingerprintFollowsTextAndFieldsButNoPath) {
  const std::string print = mapped(table(40, "\n"))->fingerprint();
  put(folder_ / "other/copy.csv", table(40, "\n"));
  EXPECT_EQ(opened("csv", params("mapped", {{"path", folder_ / "other/copy.csv"}}))->fingerprint(), print);
  std::string other = table(40, "\n");
  other[other.size() - 3] = 'y';
  EXPECT_NE(mapped(other)->fingerprint(), print);
  Json fields = params("mapped")["fields"];
  fields[0]["columns"] = {"a", "b"};
  EXPECT_NE(mapped(table(40, "\n"), {{"fields", fields}})->fingerprint(), print);
}

TEST_F(CsvMapped, FingerprintTellsColumnsApartWhoseNamesHoldWhatSeparatesThem) {
  put(path_, "\"a,1:b\",c,a,\"b,1:c\"\n1,2,3,4\n");
  Json json = params("mapped");
  const auto print = [&](const Json& columns) {
    json["fields"] = Json::array({{{"name", "x"}, {"columns", columns}}});
    return opened("csv", json)->fingerprint();
  };
  EXPECT_NE(print({"a,1:b", "c"}), print({"a", "b,1:c"}));
}

TEST_F(CsvMapped, CannotBeViewedButLoadedNumbersCan) {
  put(path_, "a,n,t,b\n1,2,3,4\n5,6,7,8\n");
  Json numbers = params("loaded");
  numbers["fields"].erase(2);
  expect_views(*opened("csv", numbers));
  EXPECT_FALSE(ability<InMemory>(*opened("csv", params("loaded")))->can_view());
  numbers["memory"] = "mapped";
  EXPECT_FALSE(ability<InMemory>(*opened("csv", numbers))->can_view());
  const auto texts = ability<Columns>(*opened("csv", params("loaded")))->lengths("t");
  EXPECT_EQ(texts, (std::vector<int64_t>{1, 1}));
}

TEST_F(CsvMapped, ATableOf30MegabytesTakesLittleMemoryAndOpensFast) {
  {
    std::ofstream out(path_, std::ios::binary);
    out << "a,n,t,b\n";
    std::string row;
    for (int i = 0; out.tellp() < 30'000'000; ++i) {
      row = std::to_string(i) + ".25," + std::to_string(i % 10) + ",some text of this row \"\"," + "0.123456\n";
      row.replace(row.find("some"), row.find("\"\"") + 2 - row.find("some"), "\"some text, of this row\"");
      out << row;
    }
  }
  const int64_t before = own_memory();
  const auto begin = std::chrono::steady_clock::now();
  const auto dataset = opened("csv", params("mapped"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double rate = static_cast<double>(std::filesystem::file_size(path_)) / took.count() / 1e6;
  std::cout << "opened " << dataset->size() << " rows at " << static_cast<int>(rate) << " MB/s\n";
  std::mt19937_64 random(1);
  const auto read_begin = std::chrono::steady_clock::now();
  MemorySample sample(dataset->spec());
  for (int i = 0; i < 20000; ++i) {
    const auto index = static_cast<int64_t>(random() % static_cast<uint64_t>(dataset->size()));
    dataset->read(index, sample);
    ASSERT_EQ(sample.written<float>("x")[1], static_cast<float>(index) + 0.25F);
  }
  const std::chrono::duration<double, std::micro> read = std::chrono::steady_clock::now() - read_begin;
  std::cout << "read a row in " << read.count() / 20000 << " µs\n";
  if (before >= 0) {
    EXPECT_LT(own_memory() - before, 8 * 1024);
  }
  EXPECT_GT(rate, 50);  // far below what any machine does
}

}  // namespace
}  // namespace tenon::test
