// dataset:subset, limit, repeat and concat: which items they give, and that abilities of their inputs stay.
#include <limits>
#include <numeric>

#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

/// The items of a dataset over Counting, by their first number.
std::vector<int64_t> items(const Dataset& dataset) {
  std::vector<int64_t> all;
  const std::vector<float> x = column<float>(dataset, "x");
  for (std::size_t i = 0; i < x.size(); i += 2) all.push_back(static_cast<int64_t>(x[i]));
  return all;
}

Error refused_over(const std::string& name, const Json& params, const std::vector<Dataset*>& inputs) {
  return error_of([&] { (void)opened_over(name, params, inputs); });
}

class Selections : public testing::Test {
 protected:
  [[nodiscard]] std::vector<int64_t> subset(const Json& params) {
    return items(*opened_over("subset", params, {&ten_}));
  }

  TemporaryFolder folder_;
  Counting ten_{10};
};

TEST_F(Selections, SubsetTakesAListInItsOrderAndAsOftenAsItSays) {
  EXPECT_EQ(subset({{"indices", {7, 0, 7}}}), (std::vector<int64_t>{7, 0, 7}));
  expect_error(refused_over("subset", {{"indices", {1, 10}}}, {&ten_}), ErrorCode::kData, "/indices/1",
               {"no item 10", "the input has 10"});
}

TEST_F(Selections, SubsetReadsListsFromTextAndFromNumpy) {
  put(folder_ / "list.txt", "3 # the first\n\n  9\r\n1");
  EXPECT_EQ(subset({{"file", folder_ / "list.txt"}}), (std::vector<int64_t>{3, 9, 1}));
  put(folder_ / "list.txt", "3\nfour\n");
  expect_error(refused_over("subset", {{"file", folder_ / "list.txt"}}, {&ten_}), ErrorCode::kData, "/file",
               {"list.txt:2: \"four\" is no index"});
  put(folder_ / "list.txt", "# none\n");
  expect_error(refused_over("subset", {{"file", folder_ / "list.txt"}}, {&ten_}), ErrorCode::kData, "/file",
               {"lists no item"});
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  put(folder_ / "list.npy",
      std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + bytes_of(std::vector<int32_t>{8, 2}));
  EXPECT_EQ(subset({{"file", folder_ / "list.npy"}}), (std::vector<int64_t>{8, 2}));
  expect_error(refused_over("subset", {{"file", folder_ / "none.txt"}}, {&ten_}), ErrorCode::kData, "/file",
               {"none.txt", "No such file"});
}

TEST_F(Selections, SubsetTakesRangesAndCountsFromTheEnd) {
  EXPECT_EQ(subset({{"from", 2}, {"to", 9}, {"step", 3}}), (std::vector<int64_t>{2, 5, 8}));
  EXPECT_EQ(subset({{"from", -3}}), (std::vector<int64_t>{7, 8, 9}));
  EXPECT_EQ(subset({{"to", -8}}), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(subset(Json::object()).size(), 10U);
  EXPECT_EQ(subset({{"from", 3}, {"step", std::numeric_limits<int64_t>::max()}}), (std::vector<int64_t>{3}));
  expect_error(refused_over("subset", {{"from", 5}, {"to", 5}}, {&ten_}), ErrorCode::kData, "/from",
               {"none of the input"});
  expect_error(refused_over("subset", {{"from", 5}, {"indices", {1}}}, {&ten_}), ErrorCode::kConfig, "/indices",
               {"in one way"});
}

TEST_F(Selections, LimitTakesTheFirstAndSaysWhereThereAreFewer) {
  const auto four = opened_over("limit", {{"count", 4}}, {&ten_});
  EXPECT_EQ(items(*four), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_TRUE(told_by(*four).empty());
  const auto all = opened_over("limit", {{"count", 40}}, {&ten_});
  EXPECT_EQ(all->size(), 10);
  ASSERT_EQ(told_by(*all).size(), 1U);
  EXPECT_NE(told_by(*all)[0].find("has 10 items, fewer than \"count\": 40"), std::string::npos);
}

TEST_F(Selections, RepeatGivesTheInputOverAndOver) {
  Counting three(3);
  EXPECT_EQ(items(*opened_over("repeat", {{"times", 3}}, {&three})), (std::vector<int64_t>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  expect_error(refused_over("repeat", {{"times", int64_t{1} << 62}}, {&ten_}), ErrorCode::kData, "/times", {"2^63"});
}

TEST_F(Selections, ConcatJoinsInTheOrderOfItsInputsAndNamesTheSource) {
  Counting none(0, 5);
  Counting more(3, 20);
  const auto dataset = opened_over("concat", {{"source", "from"}}, {&ten_, &none, &more});
  EXPECT_EQ(text_of(dataset->spec()), "x float32[2], label int64[], from int64[]");
  EXPECT_EQ(items(*dataset), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21, 22}));
  EXPECT_EQ(column<int64_t>(*dataset, "from"), (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2}));
  expect_column<int64_t>(*dataset, "from");
  expect_column<int64_t>(*dataset, "label");
  expect_views(*dataset);
}

TEST_F(Selections, ConcatOfMoreItemsThanNumbersIsRefused) {
  const auto half = opened_over("repeat", {{"times", int64_t{1} << 58}}, {&ten_});
  const std::vector<Dataset*> all(4, half.get());
  expect_error(refused_over("concat", Json::object(), all), ErrorCode::kData, "", {"more than 2^63 items"});
}

TEST_F(Selections, ConcatRefusesOtherFieldsAndTakenNames) {
  Counting text(4, 0, true);
  expect_error(refused_over("concat", Json::object(), {&ten_, &text}), ErrorCode::kConfig, "",
               {"input 1 has x float32[2], label int64[], text uint8[?]", "input 0 x float32[2], label int64[]"});
  expect_error(refused_over("concat", {{"source", "x"}}, {&ten_}), ErrorCode::kConfig, "/source", {"\"x\" already"});
  expect_error(refused_over("concat", Json::object(), {}), ErrorCode::kConfig, "", {"none as input"});
}

TEST_F(Selections, AbilitiesOfTheInputStay) {
  const std::vector<std::pair<std::string, Json>> all{{"subset", {{"indices", {4, 4, 0, 9}}}},
                                                      {"subset", {{"from", 1}, {"step", 2}}},
                                                      {"limit", {{"count", 7}}},
                                                      {"repeat", {{"times", 2}}},
                                                      {"split", {{"part", "train"}}},
                                                      {"concat", Json::object()}};
  for (const auto& [name, params] : all) {
    SCOPED_TRACE(name);
    const auto dataset = opened_over(name, params, {&ten_});
    expect_views(*dataset);
    expect_column<int64_t>(*dataset, "label");
    EXPECT_FALSE(ability<Columns>(*dataset)->column("x").has_value());
    auto* const partial = ability<PartialRead>(*dataset);
    ASSERT_NE(partial, nullptr);
    EXPECT_EQ(partial->partial_field(), "x");
    MemorySample whole(dataset->spec());
    MemorySample part(dataset->spec());
    dataset->read(2, whole);
    partial->read_part(
        2,
        [](Extent extent) {
          return Region{0, 0, extent.height, extent.width};
        },
        part);
    EXPECT_EQ(part.written<float>("x"), whole.written<float>("x"));
    ASSERT_NE(ability<Categorical>(*dataset), nullptr);
    EXPECT_EQ(ability<Categorical>(*dataset)->categories("label"), ten_.classes);
    EXPECT_EQ(ability<Categorical>(*dataset)->categories("x"), std::nullopt);
    ASSERT_NE(ability<ItemNames>(*dataset), nullptr);
    EXPECT_EQ(ability<ItemNames>(*dataset)->item_name(2), "number " + std::to_string(items(*dataset)[2]));
  }
}

TEST_F(Selections, ConcatKnowsTheClassesThatAllInputsAgreeOn) {
  Counting more(3, 20);
  const auto classes = [&] {
    return ability<Categorical>(*opened_over("concat", {{"source", "from"}}, {&ten_, &more}))->categories("label");
  };
  EXPECT_EQ(classes(), ten_.classes);
  more.classes = {"a", "c", "b"};
  EXPECT_EQ(classes(), std::nullopt);
  const auto both = opened_over("concat", {{"source", "from"}}, {&ten_, &more});
  EXPECT_EQ(ability<Categorical>(*both)->categories("from"), std::nullopt);
  EXPECT_EQ(ability<ItemNames>(*both)->item_name(11), "number 21");
}

TEST_F(Selections, WhatTheInputCannotTheyCannot) {
  Counting with_text(10, 0, true);
  MemoryDataset plain(ten_.spec(), {});
  for (const auto& [name, params] : std::vector<std::pair<std::string, Json>>{
           {"limit", {{"count", 7}}}, {"repeat", {{"times", 2}}}, {"concat", Json::object()}}) {
    SCOPED_TRACE(name);
    const auto texts = opened_over(name, params, {&with_text});
    EXPECT_FALSE(ability<InMemory>(*texts)->can_view());
    const auto lengths = ability<Columns>(*texts)->lengths("text");
    ASSERT_TRUE(lengths.has_value());
    for (std::size_t i = 0; i < lengths->size(); ++i) {
      EXPECT_EQ((*lengths)[i], static_cast<int64_t>(bytes_read(*texts, static_cast<int64_t>(i))[2].size()));
    }
    const auto none = opened_over(name, params, {&plain});
    EXPECT_FALSE(ability<InMemory>(*none)->can_view());
    EXPECT_FALSE(ability<Columns>(*none)->column("label").has_value());
    EXPECT_EQ(ability<PartialRead>(*none), nullptr);
    if (name != "concat") {
      EXPECT_EQ(ability<Categorical>(*none), nullptr);
    }
  }
}

TEST_F(Selections, FingerprintsFollowWhatIsChosenAndTheInput) {
  Counting other(9);
  std::vector<std::string> prints;
  for (Counting* const input : {&ten_, &other}) {
    prints.push_back(opened_over("subset", {{"indices", {1, 2}}}, {input})->fingerprint());
    prints.push_back(opened_over("subset", {{"indices", {2, 1}}}, {input})->fingerprint());
    prints.push_back(opened_over("subset", {{"from", 1}}, {input})->fingerprint());
    prints.push_back(opened_over("limit", {{"count", 3}}, {input})->fingerprint());
    prints.push_back(opened_over("repeat", {{"times", 3}}, {input})->fingerprint());
    prints.push_back(opened_over("concat", Json::object(), {input})->fingerprint());
    prints.push_back(opened_over("concat", {{"source", "s"}}, {input})->fingerprint());
  }
  prints.push_back(opened_over("concat", Json::object(), {&ten_, &other})->fingerprint());
  prints.push_back(opened_over("concat", Json::object(), {&other, &ten_})->fingerprint());
  std::sort(prints.begin(), prints.end());
  EXPECT_EQ(std::unique(prints.begin(), prints.end()), prints.end());
}

TEST_F(Selections, TakeOneInput) {
  for (const auto& [name, params] : std::vector<std::pair<std::string, Json>>{
           {"subset", Json::object()}, {"limit", {{"count", 7}}}, {"repeat", {{"times", 2}}}}) {
    expect_error(refused_over(name, params, {&ten_, &ten_}), ErrorCode::kConfig, "", {"2 as input", "name one node"});
    expect_error(error_of([&, each = name, with = params] { (void)made(each, with)->spec(); }), ErrorCode::kConfig, "",
                 {"0 as input"});
  }
}

}  // namespace
}  // namespace tenon::test
