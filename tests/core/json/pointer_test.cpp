// JSON pointers, dotted paths, and the table by pointer.
#include <core/json/pointer.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/json/pointer_table.hpp>

namespace tenon::core {
namespace {

TEST(Pointer, EscapesAndUnescapes) {
  for (const std::string key : {"a", "a/b", "~", "~1", "a~0/b", "", "/"}) {
    EXPECT_EQ(unescape_segment(escape_segment(key)), key);
    EXPECT_EQ(split_pointer(child_pointer("/x", key)), (std::vector<std::string>{"x", key}));
    EXPECT_EQ(last_segment(child_pointer("/x", key)), key);
  }
  EXPECT_EQ(child_pointer("", "a/b~c"), "/a~1b~0c");
}

TEST(Pointer, ParentOfTheRootIsTheRoot) {
  EXPECT_EQ(parent_pointer("/a/b"), "/a");
  EXPECT_EQ(parent_pointer("/a"), "");
  EXPECT_EQ(parent_pointer(""), "");
}

TEST(Pointer, DottedPathsGoBothWays) {
  EXPECT_EQ(dotted_path("/nodes/opt/with/lr"), "nodes.opt.with.lr");
  EXPECT_EQ(pointer_from_dotted("nodes.opt.with.lr"), "/nodes/opt/with/lr");
  EXPECT_EQ(dotted_path("/stop/0/use"), "stop.0.use");
  EXPECT_EQ(dotted_path("/a.b/c"), "\"a.b\".c");
}

TEST(Pointer, ArrayIndicesAreStrict) {
  EXPECT_EQ(array_index("0"), 0U);
  EXPECT_EQ(array_index("10"), 10U);
  for (const char* text : {"", "01", "-1", "+1", "1x", "99999999999999999999"})
    EXPECT_EQ(array_index(text), std::nullopt);
}

TEST(Pointer, FindsValuesWithoutThrowing) {
  const Json json = Json::parse(R"({"a": [{"b/c": 1}], "d": 2})");
  ASSERT_NE(find_value(json, "/a/0/b~1c"), nullptr);
  EXPECT_EQ(*find_value(json, "/a/0/b~1c"), 1);
  EXPECT_EQ(find_value(json, ""), &json);
  for (const char* pointer : {"/x", "/a/1", "/a/x", "/d/0", "/a/0/b~1c/e"})
    EXPECT_EQ(find_value(json, pointer), nullptr);
}

TEST(PointerTable, FindsEntriesAndNearestAncestors) {
  PointerTable<int> table;
  table[PointerTable<int>::kRoot] = 1;
  const auto a = table.put(PointerTable<int>::kRoot, "a/b", 2);
  table.put(a, "0", 3);
  EXPECT_EQ(*table.find("/a~1b"), 2);
  EXPECT_EQ(*table.find("/a~1b/0"), 3);
  EXPECT_EQ(table.find("/a"), nullptr);
  EXPECT_EQ(*table.find_nearest("/a~1b/7/x").first, 2);
  EXPECT_FALSE(table.find_nearest("/a~1b/7/x").second);
  EXPECT_EQ(*table.find_nearest("/z").first, 1);
}

TEST(PointerTable, PutByPointerMakesMissingAncestors) {
  PointerTable<int> table;
  table.put("/a/b", 5);
  EXPECT_EQ(*table.find("/a"), 5);
  table.put("/a/b", 6);
  EXPECT_EQ(*table.find("/a/b"), 6);
  EXPECT_EQ(*table.find("/a"), 5);
}

TEST(PointerTable, DetachedEntriesAreNotReached) {
  PointerTable<int> table;
  const auto detached = table.put_detached(1);
  table.put(detached, "x", 2);
  EXPECT_EQ(table.find("/x"), nullptr);
}

}  // namespace
}  // namespace tenon::core
