// One content, one text.
#include <core/storage/canonical_json.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include <core/storage/temporary_folder.hpp>

namespace tenon::core {
namespace {

TEST(CanonicalJson, does_not_depend_on_the_order_of_members) {
  const Json one = Json::parse(R"({"b":{"d":1,"c":[1,2]},"a":0.1})");
  const Json other = Json::parse(R"({"a":0.1,"b":{"c":[1,2],"d":1}})");
  EXPECT_EQ(canonical_text(one), canonical_text(other));
  EXPECT_EQ(canonical_text(one),
            "{\n  \"a\": 0.1,\n  \"b\": {\n    \"c\": [\n      1,\n      2\n    ],\n    \"d\": 1\n  }\n}\n");
}

TEST(CanonicalJson, spells_numbers_that_json_has_no_spelling_for) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Json json = {{"z", {std::nan(""), infinity, -infinity}}, {"a", 0.5}};
  EXPECT_EQ(line_text(json), R"({"z":["NaN","Infinity","-Infinity"],"a":0.5})");
  EXPECT_TRUE(std::isnan(number_of(number_json(std::nan("")))));
  EXPECT_EQ(number_of(number_json(infinity)), infinity);
  EXPECT_EQ(number_of(number_json(-infinity)), -infinity);
  EXPECT_EQ(number_of(number_json(0.1)), 0.1);
  EXPECT_THROW((void)number_of("inf"), Error);
  EXPECT_THROW((void)number_of(Json::array()), Error);
}

TEST(CanonicalJson, refuses_text_that_is_not_utf8_where_bytes_must_last) {
  const Json json = {{"a", "\xff"}};
  EXPECT_THROW((void)canonical_text(json), Error);
  EXPECT_EQ(line_text(json), "{\"a\":\"\xEF\xBF\xBD\"}");
}

TEST(ParseStrictly, refuses_what_the_library_lets_pass) {
  const auto message = [](std::string_view text) {
    return message_of<std::invalid_argument>([&] { (void)parse_strictly<Json>(text); });
  };
  EXPECT_EQ(message(R"({"a":{"b":1,"b":2}})"), "the member \"b\" is there twice");
  EXPECT_EQ(message(R"({"a":[{"b":1},{"b":2}],"b":3})"), "nothing was thrown");
  EXPECT_NE(message(std::string(1000, '[')).find("nested deeper"), std::string::npos);
  EXPECT_NE(message("{\"a\":1} x").find("line 1, column 9"), std::string::npos) << message("{\"a\":1} x");
  EXPECT_NE(message("").find("parse error"), std::string::npos);
}

TEST(ReadJson, names_the_damaged_file) {
  const TemporaryFolder folder;
  put(folder / "a.json", "{\"a\":");
  const std::string message = message_of<Error>([&] { (void)read_json(folder / "a.json"); });
  EXPECT_NE(message.find((folder / "a.json").string() + " is damaged: parse error at line 1"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace tenon::core
