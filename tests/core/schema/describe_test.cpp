// Schemas in words.
#include <core/schema/describe.hpp>

#include <string>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

struct Words {
  std::string schema;
  std::string type;
  std::string wanted;
};

class Describe : public testing::TestWithParam<Words> {};

TEST_P(Describe, SaysWhatIsWanted) {
  const Json schema = Json::parse(GetParam().schema);
  EXPECT_EQ(describe_type(schema, schema), GetParam().type);
  EXPECT_EQ(describe_wanted(schema, schema), GetParam().wanted);
}

INSTANTIATE_TEST_SUITE_P(
    Types, Describe,
    testing::Values(
        Words{R"({"type": "number"})", "number", "a number"},
        Words{R"({"type": "number", "exclusiveMinimum": 0})", "number > 0", "a number > 0"},
        Words{R"({"type": "number", "minimum": 0, "maximum": 1})", "0..1", "a number from 0 to 1"},
        Words{R"({"type": "number", "minimum": 0, "exclusiveMaximum": 1})", "number >= 0 and < 1",
              "a number >= 0 and < 1"},
        Words{R"({"type": "integer", "minimum": 1})", "integer >= 1", "an integer >= 1"},
        Words{R"({"type": "integer", "minimum": 0, "maximum": 255})", "integer 0..255", "an integer from 0 to 255"},
        Words{R"({"type": "boolean"})", "bool", "true or false"}, Words{R"({"type": "string"})", "string", "a string"},
        Words{R"({"type": "string", "x-path": true})", "path", "a path"},
        Words{R"({"type": "string", "x-unit": "span"})", "span such as \"500 steps\"", "a span such as \"500 steps\""},
        Words{R"({"enum": ["a", "b"]})", "\"a\" | \"b\"", "one of \"a\", \"b\""}, Words{R"({"const": 1})", "1", "1"},
        Words{R"({"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1}]})", "\"auto\" | integer >= 1",
              "\"auto\" or an integer >= 1"},
        Words{R"({"anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "object"}]})", "string | bool | object",
              "a string, true or false or an object"},
        Words{R"({"type": "array", "items": {"type": "integer", "minimum": 0}})", "list of integer >= 0",
              "a list of integer >= 0"},
        Words{R"({"type": "array"})", "list", "a list"}, Words{R"({"type": "object"})", "object", "an object"},
        Words{R"({})", "any value", "another value"},
        Words{R"({"$ref": "#/definitions/x", "definitions": {"x": {"type": "boolean"}}})", "bool", "true or false"}));

TEST(DescribeProperties, FollowsTheOrderThatTheSchemaNames) {
  const Json schema =
      Json::parse(R"({"properties": {"b": {"type": "boolean"}, "a": {"type": "number"}, "c": {"type": "object"}}})");
  EXPECT_EQ(describe_properties(schema, schema), "b (bool), a (number), c");
  Json ordered = schema;
  ordered["x-order"] = {"a", "c", "b"};
  EXPECT_EQ(describe_properties(ordered, ordered), "a (number), c, b (bool)");
}

TEST(DescribeValue, NamesWhatIsThere) {
  EXPECT_EQ(describe_value(Json("fast")), "the string \"fast\"");
  EXPECT_EQ(describe_value(Json(1.5)), "1.5");
  EXPECT_EQ(describe_value(Json(true)), "true");
  EXPECT_EQ(describe_value(Json()), "null");
  EXPECT_EQ(describe_value(Json::array()), "a list");
  EXPECT_EQ(describe_value(Json::object()), "an object");
}

}  // namespace
}  // namespace tenon::core
