// dataset:windows: which steps a window holds, what lies ahead, and that none reaches over a recording's end.
#include <filesystem>
#include <limits>
#include <numeric>

#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

template <class T>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<T>& values,
                bool fortran = false) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + bytes_of(values);
}

class Windows : public testing::Test {
 protected:
  void recording(const std::string& name, int64_t steps, float first) const {
    std::vector<float> values(static_cast<std::size_t>(steps));
    std::iota(values.begin(), values.end(), first);
    put(folder_ / "all" / name, npy("<f4", "(" + std::to_string(steps) + ",)", values));
  }

  [[nodiscard]] Json params(int64_t length, const Json& fields, const Json& more = Json::object()) const {
    Json json{{"path", folder_ / "all"}, {"length", length}, {"fields", fields}};
    json.update(more);
    return json;
  }

  [[nodiscard]] Json table(const std::string& text, int64_t length, const Json& fields,
                           const Json& more = Json::object()) const {
    put(folder_ / "t.csv", text);
    Json json = params(length, fields, {{"path", folder_ / "t.csv"}});
    json.update(more);
    return json;
  }

  TemporaryFolder folder_;
  Json x_ = Json::array({{{"name", "x"}}});
};

using Numbers = std::vector<float>;

TEST_F(Windows, LieWithinOneRecordingEach) {
  recording("r2.npy", 5, 20);
  recording("r10.npy", 4, 100);
  recording("r1.npy", 3, 0);
  const auto by_one = opened("windows", params(3, x_, {{"stride", 1}}));
  EXPECT_EQ(column<float>(*by_one, "x"),
            (Numbers{0, 1, 2, 20, 21, 22, 21, 22, 23, 22, 23, 24, 100, 101, 102, 101, 102, 103}));
  expect_views(*by_one);
  EXPECT_EQ(column<float>(*opened("windows", params(2, x_)), "x"), (Numbers{0, 1, 20, 21, 22, 23, 100, 101, 102, 103}));
}

TEST_F(Windows, ShortRecordingsAreCounted) {
  recording("a.npy", 2, 0);
  recording("b.npy", 4, 10);
  const auto dataset = opened("windows", params(3, x_));
  EXPECT_EQ(column<float>(*dataset, "x"), (Numbers{10, 11, 12}));
  ASSERT_EQ(told_by(*dataset).size(), 1U);
  EXPECT_NE(told_by(*dataset)[0].find("1 of 2 recordings are shorter than length + horizon = 3"), std::string::npos);
  expect_error(refused("windows", params(5, x_)), ErrorCode::kData, "/length",
               {"the longest of 2 recordings has 4 steps", "= 5"});
}

TEST_F(Windows, GiveWhatLiesAheadAndTheLastStep) {
  recording("a.npy", 7, 0);
  recording("b.npy", 6, 50);
  const Json fields{{{"name", "x"}},
                    {{"name", "y"}, {"part", "ahead"}},
                    {{"name", "last"}, {"part", "last"}},
                    {{"name", "then"}, {"part", "then"}}};
  const auto dataset = opened("windows", params(3, fields, {{"stride", 2}, {"horizon", 2}}));
  EXPECT_EQ(text_of(dataset->spec()), "x float32[3], y float32[2], last float32[], then float32[]");
  EXPECT_EQ(column<float>(*dataset, "x"), (Numbers{0, 1, 2, 2, 3, 4, 50, 51, 52}));
  EXPECT_EQ(column<float>(*dataset, "y"), (Numbers{3, 4, 5, 6, 53, 54}));
  EXPECT_EQ(column<float>(*dataset, "last"), (Numbers{2, 4, 52}));
  EXPECT_EQ(column<float>(*dataset, "then"), (Numbers{4, 6, 54}));
  expect_views(*dataset);
  expect_column<float>(*dataset, "last");
  EXPECT_EQ(error_of([&] { (void)made("windows", params(3, fields)); }).pointer(), "/fields/1/part");
}

TEST_F(Windows, TakeFieldsFromSeveralFoldersInEitherOrder) {
  put(folder_ / "all/x/r1.npy", npy("<f8", "(3, 2)", std::vector<double>{1, 2, 3, 4, 5, 6}));
  put(folder_ / "all/x/r2.npy", npy("<f8", "(2, 2)", std::vector<double>{7, 9, 8, 10}, true));
  put(folder_ / "all/y/r1.npy", npy("<i8", "(3,)", std::vector<int64_t>{0, 1, 2}));
  put(folder_ / "all/y/r2.npy", npy("<i8", "(2,)", std::vector<int64_t>{3, 4}));
  const Json fields{{{"name", "x"}, {"folder", "x"}, {"dtype", "float64"}, {"shape", {2}}},
                    {{"name", "y"}, {"folder", "y"}, {"dtype", "int64"}, {"part", "last"}}};
  const auto dataset = opened("windows", params(2, fields, {{"stride", 1}}));
  EXPECT_EQ(column<double>(*dataset, "x"), (std::vector<double>{1, 2, 3, 4, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(column<int64_t>(*dataset, "y"), (std::vector<int64_t>{1, 2, 4}));
  expect_views(*dataset);
  put(folder_ / "all/y/r2.npy", npy("<i8", "(1,)", std::vector<int64_t>{3}));
  expect_error(refused("windows", params(2, fields)), ErrorCode::kData, "/fields/1",
               {"y/r2.npy: has 1 steps, but this recording has 2"});
  std::filesystem::rename(folder_ / "all/y/r2.npy", folder_ / "all/y/r3.npy");
  expect_error(refused("windows", params(2, fields)), ErrorCode::kData, "/fields/1/folder",
               {"has no r2.npy, which the first field has"});
  Json wrong = fields;
  wrong[0]["dtype"] = "float32";
  expect_error(refused("windows", params(2, wrong)), ErrorCode::kData, "/fields/0/dtype", {"r1.npy", "float64[2]"});
}

TEST_F(Windows, OfATableFollowTheColumnThatNamesRecordings) {
  const std::string text = "who,a,b,label\nann,1,2,0\nbob,10,20,1\nann,3,4,0\nann,5,6,1\nbob,30,40,0\n";
  const Json fields{{{"name", "x"}, {"columns", {"b", "a"}}},
                    {{"name", "label"}, {"dtype", "int64"}, {"part", "last"}}};
  const auto dataset = opened("windows", table(text, 2, fields, {{"group", "who"}, {"stride", 1}}));
  EXPECT_EQ(text_of(dataset->spec()), "x float32[2, 2], label int64[]");
  EXPECT_EQ(column<float>(*dataset, "x"), (Numbers{2, 1, 4, 3, 4, 3, 6, 5, 20, 10, 40, 30}));
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{0, 1, 0}));
  expect_views(*dataset);
  const auto one = opened("windows", table(text, 5, {{{"name", "a"}}}));
  EXPECT_EQ(column<float>(*one, "a"), (Numbers{1, 10, 3, 5, 30}));
  expect_error(refused("windows", table(text, 2, fields, {{"group", "whom"}})), ErrorCode::kData, "/group",
               {"no column \"whom\"; did you mean \"who\"?"});
  expect_error(refused("windows", table(text, 2, {{{"name", "c"}}})), ErrorCode::kData, "/fields/0/name",
               {"no column \"c\""});
  expect_error(refused("windows", table(text, 2, {{{"name", "a"}, {"shape", {2}}}})), ErrorCode::kConfig,
               "/fields/0/shape", {"is a table"});
  expect_error(refused("windows", table(text, 2, {{{"name", "a"}, {"dtype", "int8"}}})), ErrorCode::kConfig,
               "/fields/0/dtype", {"float32, float64 or int64"});
}

TEST_F(Windows, OfLengthsBeyondAnyFileAreRefusedAndTheLargestAllowedFindNone) {
  recording("a.npy", 5, 0);
  const Json last = Json::array({{{"name", "x"}, {"part", "last"}}});
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  expect_error(refused("windows", params(kMost, last, {{"horizon", 1}, {"stride", 1}})), ErrorCode::kConfig, "/length",
               {});
  expect_error(refused("windows", params(1, last, {{"horizon", kMost}})), ErrorCode::kConfig, "/horizon", {});
  expect_error(refused("windows", params(1, last, {{"stride", kMost}})), ErrorCode::kConfig, "/stride", {});
  constexpr int64_t kLargest = 1'000'000'000'000;
  expect_error(refused("windows", params(kLargest, last, {{"horizon", kLargest}})), ErrorCode::kData, "/length",
               {"has 5 steps", "= 2000000000000"});
  EXPECT_EQ(column<float>(*opened("windows", params(2, last, {{"stride", kLargest}})), "x"), (Numbers{1}));
}

TEST_F(Windows, DelimitersThatSeparateNoCellsAreRefused) {
  for (const char* const delimiter : {"", ",,", "\"", "\n", "\r", "ö"}) {
    expect_error(refused("windows", table("x\n1\n2\n", 1, x_, {{"delimiter", delimiter}})), ErrorCode::kConfig,
                 "/delimiter", {"separates no cells"});
  }
}

TEST_F(Windows, AsManyRecordingsAsFilesCanBeOpenShareAFolderAndMoreAreRefused) {
  recording("0.npy", 2, 0);
  const std::filesystem::path folder = folder_ / "all";
  for (int i = 1; i < 10'001; ++i) {
    std::filesystem::create_hard_link(folder / "0.npy", folder / (std::to_string(i) + ".npy"));
  }
  const Json fields = Json::array({{{"name", "a"}}, {{"name", "b"}}, {{"name", "c"}}, {{"name", "d"}}});
  EXPECT_EQ(opened("windows", params(2, fields))->size(), 10'001);  // four fields, each file mapped once
  Json several = fields;
  for (std::size_t i = 1; i < 4; ++i) {
    const std::string name = "other-" + std::to_string(i);
    std::filesystem::create_directory_symlink(folder, folder / name);
    several[i]["folder"] = name;
  }
  expect_error(refused("windows", params(2, several)), ErrorCode::kData, "/fields/2/folder",
               {"30003 files are to be read", "one table with a \"group\""});
}

TEST_F(Windows, FingerprintFollowsDataCutsAndFields) {
  recording("a.npy", 6, 0);
  const auto print = [&](const Json& with) { return opened("windows", with)->fingerprint(); };
  const std::string first = print(params(2, x_));
  EXPECT_NE(print(params(2, x_, {{"stride", 1}})), first);
  EXPECT_NE(print(params(3, x_)), first);
  EXPECT_NE(print(params(2, {{{"name", "x"}, {"part", "last"}}})), first);
  recording("a.npy", 6, 1);
  EXPECT_NE(print(params(2, x_)), first);
  recording("a.npy", 6, 0);
  EXPECT_EQ(print(params(2, x_)), first);
}

}  // namespace
}  // namespace tenon::test
