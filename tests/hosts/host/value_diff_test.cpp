// Differences of JSON values.
#include <host/value_diff.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::host {
namespace {

using core::Json;

std::vector<std::string> texts(const char* before, const char* after) {
  const Json one = Json::parse(before);
  const Json other = Json::parse(after);
  std::vector<std::string> found;
  for (const ValueChange& change : differences(one, other)) found.push_back(change.pointer + ": " + to_string(change));
  return found;
}

using Texts = std::vector<std::string>;

TEST(Differences, EqualValuesHaveNone) {
  EXPECT_EQ(texts(R"({"a": 1, "b": [1, {"c": null}]})", R"({"b": [1, {"c": null}], "a": 1})"), Texts());
  EXPECT_EQ(texts("1", "1.0"), Texts());
}

TEST(Differences, EachIsAsDeepAsTheStructureIsTheSame) {
  EXPECT_EQ(texts(R"({"a": {"b": [1, 2]}})", R"({"a": {"b": [1, 3]}})"), Texts{"/a/b/1: 2 -> 3"});
  EXPECT_EQ(texts(R"({"a": {"b": [1, 2]}})", R"({"a": {"b": [1]}})"), Texts{"/a/b: [1, 2] -> [1]"});
  EXPECT_EQ(texts(R"({"a": {"b": 1}})", R"({"a": [1]})"), Texts{R"(/a: { "b": 1 } -> [1])"});
  EXPECT_EQ(texts(R"({"a": "1"})", R"({"a": 1})"), Texts{R"(/a: "1" -> 1)"});
  EXPECT_EQ(texts(R"({"a": true})", R"({"a": 1})"), Texts{"/a: true -> 1"});
}

TEST(Differences, WhatOneSideHasComesWholeAndThatOfTheSecondLast) {
  EXPECT_EQ(texts(R"({"x": {"y": 1}, "k": 1})", R"({"n": {"z": [2]}, "k": 2})"),
            (Texts{R"(/x: removed: { "y": 1 })", "/k: 1 -> 2", R"(/n: added: { "z": [2] })"}));
  EXPECT_EQ(texts(R"({"n": {}})", R"({"n": {"a/b": {"use": "loss:mse"}}})"), Texts{"/n/a~1b: added: loss:mse"});
}

TEST(Differences, LongValuesAreCutBetweenCharacters) {
  const Json before = Json::object();
  const Json after{{"a", std::string(40, 'x') + std::string("ééééééééééééééééééééééééé")}};
  const std::string text = to_string(differences(before, after).front());
  EXPECT_TRUE(text.ends_with("é…")) << text;
  EXPECT_EQ(text.find("\xef\xbf\xbd"), std::string::npos);
}

TEST(Differences, ManyMembersAreComparedInLinearTime) {
  Json before = Json::object();
  for (int i = 0; i < 50'000; ++i) before.get_ref<Json::object_t&>().emplace_back("node_" + std::to_string(i), i);
  Json after = before;
  after.get_ref<Json::object_t&>().back().second = -1;
  const std::vector<ValueChange> found = differences(before, after);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found.front().pointer, "/node_49999");
}

}  // namespace
}  // namespace tenon::host
