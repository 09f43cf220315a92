// Our verdict on a value is the one of valijson, where that library is installed.
#ifdef TENON_HAVE_VALIJSON

#pragma GCC diagnostic ignored "-Wrestrict"  // g++ 12 warns of its own std::string, inlined into valijson.

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <core/schema/checked.hpp>
#include <core/schema/embedded.hpp>

namespace tenon::core {
namespace {

using Plain = nlohmann::json;

class Reference {
 public:
  explicit Reference(const Plain& schema) {
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema), schema_);
  }

  bool accepts(const Plain& value) {
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    return validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(value), nullptr);
  }

 private:
  valijson::Schema schema_;
};

bool ours_accepts(const Plain& value, const Plain& schema) {
  const Checked checked = check_text(value.dump(), Json::parse(schema.dump()));
  return !checked.diagnostics.has_errors();
}

/// A value that often, and often not, fits the schemas below.
Plain random_value(std::mt19937& random, int depth) {
  const auto pick = [&](int count) { return std::uniform_int_distribution<int>(0, count - 1)(random); };
  switch (pick(depth > 0 ? 8 : 6)) {
    case 0: return pick(12) - 2;
    case 1: return (pick(24) - 4) / 4.0 + 0.125;
    case 2: return pick(2) == 0;
    case 3: return std::vector<const char*>{"auto", "end", "a", "abc", "", "B2"}[static_cast<std::size_t>(pick(6))];
    case 4: return Plain::object();
    case 5: return Plain::array();
    case 6: {
      Plain list = Plain::array();
      for (int i = pick(4); i > 0; --i) list.push_back(random_value(random, depth - 1));
      return list;
    }
    default: {
      Plain object = Plain::object();
      const std::vector<const char*> keys{"use", "with", "n", "n_x", "list", "Z"};
      for (int i = pick(4); i > 0; --i)
        object[keys[static_cast<std::size_t>(pick(6))]] = random_value(random, depth - 1);
      return object;
    }
  }
}

const std::vector<const char*> kSchemas{
    R"({"type": "integer", "minimum": 0, "maximum": 5})",
    R"({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 3})",
    R"({"type": ["string", "boolean"]})",
    R"({"enum": ["auto", 3, true, [], {}]})",
    R"({"const": "end"})",
    R"({"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1}]})",
    R"({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}, {"type": "array", "maxItems": 1}]})",
    R"({"allOf": [{"type": "integer"}, {"minimum": 1}, {"maximum": 4}]})",
    R"({"not": {"type": "string"}})",
    R"({"type": "string", "pattern": "^[a-z]+$", "minLength": 1, "maxLength": 3})",
    R"({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2, "uniqueItems": true})",
    R"({"type": "object", "additionalProperties": false, "required": ["use"],
        "properties": {"use": {"type": ["string", "number", "object"]}, "n": {"type": "integer"}, "list": {"type": "array"}}})",
    R"({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1})",
    R"({"type": "object", "patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": false})",
    R"({"type": "object", "propertyNames": {"pattern": "^[a-z_]+$"}})",
    R"({"$ref": "#/definitions/x", "definitions": {"x": {"type": "object", "properties": {"with": {"$ref": "#/definitions/x"}}}}})",
    R"({"type": "integer", "multipleOf": 3})"};

TEST(Valijson, AgreesOnRandomValues) {
  std::mt19937 random(7);
  for (const char* text : kSchemas) {
    const Plain schema = Plain::parse(text);
    Reference reference(schema);
    int accepted = 0;
    for (int i = 0; i < 3000; ++i) {
      const Plain value = random_value(random, 3);
      const bool expected = reference.accepts(value);
      accepted += expected ? 1 : 0;
      ASSERT_EQ(ours_accepts(value, schema), expected) << text << "\n" << value.dump();
    }
    EXPECT_GT(accepted, 5) << text;
  }
}

TEST(Valijson, AgreesOnThePipelineSchema) {
  const Plain schema = Plain::parse(embedded_schema("pipeline-1"));
  Reference reference(schema);
  const Plain good = Plain::parse(R"({"format": 1, "name": "x", "vars": {"a": 1},
      "nodes": {"a": {"use": "x:y", "in": ["b"], "with": {"k": [1]}}, "o": {"use": "x:y", "of": "a", "groups": [{"match": "*", "with": {"w": 0}}]}},
      "fit": {"data": "d", "loss": {"l": 0.5}, "epochs": 2, "clip": {"norm": 1.0}},
      "checkpoint": {"keep": {"last": 1, "best": {"metric": "a"}}}, "stop": [{"use": "x:y"}], "export": ["s"]})");
  ASSERT_TRUE(reference.accepts(good));
  ASSERT_TRUE(ours_accepts(good, schema));
  // One value after the other is replaced or taken away. Quantities are left out: valijson knows no "x-unit".
  const Plain flat = good.flatten();
  const std::vector<Plain> others{0, -1, 1.5, true, "", "A b", Plain::array(), Plain::object()};
  for (const auto& [pointer, unused] : flat.items()) {
    for (const Plain& other : others) {
      Plain changed = good;
      changed[Plain::json_pointer(pointer)] = other;
      EXPECT_EQ(ours_accepts(changed, schema), reference.accepts(changed)) << pointer << " " << other.dump();
    }
    const Plain::json_pointer place(pointer);
    Plain shortened = good;
    if (!shortened[place.parent_pointer()].is_object()) continue;
    shortened[place.parent_pointer()].erase(place.back());
    EXPECT_EQ(ours_accepts(shortened, schema), reference.accepts(shortened)) << pointer;
  }
}

}  // namespace
}  // namespace tenon::core

#endif  // TENON_HAVE_VALIJSON
