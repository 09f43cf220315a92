// Defaults of a schema.
#include <core/schema/defaults.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/error.hpp>

namespace tenon::core {
namespace {

using Pointers = std::vector<std::string>;

const Json& schema() {
  static const Json value = Json::parse(R"json({
    "type": "object",
    "properties": {
      "lr": {"type": "number"},
      "momentum": {"type": "number", "default": 0.9},
      "betas": {"type": "array", "items": {"type": "number"}, "default": [0.9, 0.999]},
      "clip": {"type": "object", "default": {}, "properties": {"norm": {"type": "number", "default": 1}}},
      "inner": {"$ref": "#/definitions/inner"},
      "list": {"type": "array", "items": {"$ref": "#/definitions/inner"}},
      "map": {"type": "object", "additionalProperties": {"$ref": "#/definitions/inner"}},
      "either": {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": false,
                 "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}}}]}
    },
    "definitions": {"inner": {"type": "object", "properties": {"depth": {"type": "integer", "default": 3}}}}})json");
  return value;
}

TEST(FillDefaults, AddsWhatIsAbsentAndKeepsWhatIsThere) {
  Json value = Json::parse(R"({"momentum": 0.5})");
  EXPECT_EQ(fill_defaults(value, schema(), "/with"),
            (Pointers{"/with/betas", "/with/betas/0", "/with/betas/1", "/with/clip", "/with/clip/norm"}));
  EXPECT_EQ(value, Json::parse(R"({"momentum": 0.5, "betas": [0.9, 0.999], "clip": {"norm": 1}})"));
}

TEST(FillDefaults, GoesIntoObjectsListsMapsAndAlternatives) {
  Json value = Json::parse(R"({"momentum": 1, "betas": [], "clip": {"norm": 2}, "inner": {}, "list": [{}, {"depth": 1}],
                               "map": {"x": {}}, "either": {"a": 1}})");
  EXPECT_EQ(fill_defaults(value, schema()), (Pointers{"/inner/depth", "/list/0/depth", "/map/x/depth", "/either/b"}));
  EXPECT_EQ(value.at("list"), Json::parse(R"([{"depth": 3}, {"depth": 1}])"));
}

TEST(FillDefaults, LeavesValuesOfAnotherTypeAlone) {
  Json value = Json::parse(R"({"momentum": "x", "betas": 3, "clip": 1, "inner": [1], "list": {}, "either": "s"})");
  const Json before = value;
  EXPECT_EQ(fill_defaults(value, schema()), Pointers{});
  EXPECT_EQ(value, before);
  Json list = Json::array();
  EXPECT_EQ(fill_defaults(list, schema()), Pointers{});
}

TEST(FillDefaults, ADefaultThatContainsItselfIsTheSchemasFault) {
  const Json endless = Json::parse(R"({"type": "object", "properties": {"a": {"$ref": "#", "default": {}}}})");
  Json value = Json::object();
  EXPECT_THROW(fill_defaults(value, endless), Error);
}

}  // namespace
}  // namespace tenon::core
