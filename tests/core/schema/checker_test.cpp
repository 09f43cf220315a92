// Every violation of a schema, one each, at its place.
#include <core/schema/checker.hpp>

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/schema/checked.hpp>
#include <core/text/render.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

/// The parameters of the design's example, and one of each further kind.
const Json& sgd() {
  static const Json schema = Json::parse(R"json({
    "type": "object", "additionalProperties": false, "required": ["lr"],
    "properties": {
      "lr": {"type": "number", "exclusiveMinimum": 0, "description": "Learning rate", "x-schedulable": true},
      "momentum": {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
      "nesterov": {"type": "boolean", "default": false},
      "weight_decay": {"type": "number", "minimum": 0, "default": 0}
    }})json");
  return schema;
}

const Json& wide() {
  static const Json schema = Json::parse(R"json({
    "type": "object", "additionalProperties": false,
    "properties": {
      "count": {"type": "integer", "minimum": 1, "maximum": 10},
      "even": {"type": "integer", "multipleOf": 2},
      "flag": {"type": "boolean"},
      "mode": {"type": "string", "enum": ["constant", "linear", "cosine"]},
      "workers": {"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 0}]},
      "warmup": {"type": "string", "x-unit": "span"},
      "until": {"anyOf": [{"const": "end"}, {"type": "string", "x-unit": "span", "exclusiveMinimum": 0}]},
      "size": {"type": "string", "x-unit": "bytes"},
      "betas": {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 2, "maxItems": 2},
      "names": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
      "short": {"type": "string", "minLength": 2, "maxLength": 3},
      "version": {"type": "string", "pattern": "^[0-9]+$", "description": "digits"},
      "file": {"type": "string", "x-path": true},
      "sizes": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
      "lookup": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$", "description": "small letters"}},
      "by_pattern": {"type": "object", "patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": false},
      "one": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]},
      "all": {"allOf": [{"type": "integer"}, {"minimum": 3}]},
      "excluded": {"not": {"const": "batch"}},
      "inner": {"$ref": "#/definitions/inner"},
      "either": {"anyOf": [{"type": "string"}, {"$ref": "#/definitions/inner"}]}
    },
    "definitions": {"inner": {"type": "object", "additionalProperties": false, "required": ["use"],
                              "properties": {"use": {"type": "string"}, "depth": {"type": "integer"}}}}})json");
  return schema;
}

TEST(Checker, AnUnknownParameterIsShownAsTheDesignSays) {
  const Checked checked = check_text("{ \"momentun\": 0.9, \"lr\": 0.1 }", sgd());
  ASSERT_EQ(checked.diagnostics.all().size(), 1U);
  EXPECT_EQ(render_text(checked.diagnostics.all().front()),
            "error[unknown-key]: optimizer:sgd has no parameter \"momentun\"\n"
            "  --> a.json:1:3  /momentun\n"
            "1  | { \"momentun\": 0.9, \"lr\": 0.1 }\n"
            "   |   ^^^^^^^^^^ did you mean \"momentum\"?\n"
            "   = parameters: lr (number > 0), momentum (0..1), nesterov (bool), weight_decay (number >= 0)\n");
}

struct Case {
  const char* name;
  std::string text;
  std::vector<std::string> found;
  std::string message = {};      ///< Of the first finding, when given.
  std::string label = {};        ///< Of the first finding, when given.
  std::string replacement = {};  ///< Of the first finding, when given.
};

// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for
void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class CheckerFinds : public testing::TestWithParam<Case> {};

TEST_P(CheckerFinds, EveryViolation) {
  const Case& each = GetParam();
  const Checked checked = check_text(each.text, wide());
  EXPECT_EQ(checked.found(), each.found);
  if (each.found.empty()) return;
  const Diagnostic& first = checked.diagnostics.all().front();
  EXPECT_EQ(each.message.empty() ? "" : first.message, each.message);
  EXPECT_EQ(each.label.empty() ? "" : first.label, each.label);
  if (!each.replacement.empty()) {
    ASSERT_TRUE(first.suggestion.has_value());
    EXPECT_EQ(first.suggestion->replacement, each.replacement);
  }
}

const std::vector<Case> kCases{
    {"nothing", "{}", {}},
    {"all_right",
     R"({"count": 3, "even": 4, "flag": true, "mode": "linear", "workers": "auto", "warmup": "5 steps", "until": "end",
         "betas": [0.9, 1], "names": ["a", "b"], "short": "ab", "version": "12", "file": "x", "sizes": {"a": 1},
         "lookup": {"a": null}, "by_pattern": {"n_a": 1}, "one": 3, "all": 3, "excluded": "x", "inner": {"use": "a"},
         "either": {"use": "b"}})",
     {}},
    {"float_for_integer",
     R"({"count": 3.0})",
     {"wrong-type 1:11 /count"},
     "optimizer:sgd: count must be an integer from 1 to 10, not 3.0",
     "write 3",
     "3"},
    {"broken_integer", R"({"count": 3.5})", {"wrong-type 1:11 /count"}},
    {"number_in_quotes",
     R"({"count": "3"})",
     {"wrong-type 1:11 /count"},
     "optimizer:sgd: count must be an integer from 1 to 10, not the string \"3\"",
     "write 3 without quotes",
     "3"},
    {"number_in_quotes_out_of_range", R"({"count": "30"})", {"wrong-type 1:11 /count"}},
    {"bool_in_quotes", R"({"flag": "true"})", {"wrong-type 1:10 /flag"}, "", "write true without quotes", "true"},
    {"number_for_bool", R"({"flag": 1})", {"wrong-type 1:10 /flag"}, "", "write true", "true"},
    {"number_for_string", R"({"version": 12})", {"wrong-type 1:13 /version"}, "", "write \"12\" with quotes", "\"12\""},
    {"scalar_for_list", R"({"names": "a"})", {"wrong-type 1:11 /names"}, "", "write it between [ and ]", "[\"a\"]"},
    {"list_for_scalar",
     R"({"count": [3]})",
     {"wrong-type 1:11 /count"},
     "",
     "write the element alone, without brackets",
     "3"},
    {"object_for_scalar",
     R"({"count": {}})",
     {"wrong-type 1:11 /count"},
     "optimizer:sgd: count must be an integer from 1 to 10, not an object"},
    {"out_of_range",
     R"({"count": 11})",
     {"out-of-range 1:11 /count"},
     "optimizer:sgd: count must be an integer from 1 to 10, not 11",
     "allowed: integer 1..10"},
    {"no_multiple", R"({"even": 3})", {"out-of-range 1:10 /even"}},
    {"unknown_word",
     R"({"mode": "cosin"})",
     {"unknown-value 1:10 /mode"},
     "optimizer:sgd: mode must be one of \"constant\", \"linear\", \"cosine\", not the string \"cosin\"",
     "did you mean \"cosine\"?",
     "\"cosine\""},
    {"far_word", R"({"mode": "step"})", {"unknown-value 1:10 /mode"}},
    {"number_for_word", R"({"mode": 3})", {"wrong-type 1:10 /mode"}},
    {"misspelt_auto",
     R"({"workers": "aut"})",
     {"unknown-value 1:13 /workers"},
     "optimizer:sgd: workers must be \"auto\" or an integer >= 0, not the string \"aut\"",
     "did you mean \"auto\"?"},
    {"other_word_for_auto", R"({"workers": "many"})", {"wrong-type 1:13 /workers"}},
    {"quoted_number_for_auto", R"({"workers": "4"})", {"wrong-type 1:13 /workers"}, "", "write 4 without quotes", "4"},
    {"auto_out_of_range", R"({"workers": -1})", {"out-of-range 1:13 /workers"}},
    {"no_unit",
     R"({"warmup": 500})",
     {"bad-unit 1:12 /warmup"},
     "optimizer:sgd: warmup needs a unit, such as \"500 steps\"",
     "write \"500 steps\" or \"500 epochs\""},
    {"unknown_unit",
     R"({"warmup": "500 stps"})",
     {"bad-unit 1:12 /warmup"},
     "",
     "did you mean \"500 steps\"?",
     "\"500 steps\""},
    {"unit_of_bytes", R"({"size": "5 mb"})", {"bad-unit 1:10 /size"}, "", "did you mean \"5 MB\"?", "\"5 MB\""},
    {"misspelt_end", R"({"until": "ned"})", {"unknown-value 1:11 /until"}, "", "did you mean \"end\"?"},
    {"no_unit_beside_word", R"({"until": 500})", {"bad-unit 1:11 /until"}},
    {"unknown_unit_beside_word", R"({"until": "5 epoks"})", {"bad-unit 1:11 /until"}, "", "did you mean \"5 epochs\"?"},
    {"zero_span", R"({"until": "0 steps"})", {"out-of-range 1:11 /until"}},
    {"too_few",
     R"({"betas": [0.9]})",
     {"bad-length 1:11 /betas"},
     "optimizer:sgd: betas needs at least 2 elements, not 1"},
    {"too_many", R"({"betas": [1, 2, 3]})", {"bad-length 1:11 /betas"}},
    {"every_element",
     R"({"betas": [-1, "x"]})",
     {"out-of-range 1:12 /betas/0", "wrong-type 1:16 /betas/1"},
     "optimizer:sgd: betas.0 must be a number >= 0, not -1"},
    {"twice", R"({"names": ["a", "b", "a"]})", {"bad-length 1:22 /names/2"}},
    {"too_short", R"({"short": "a"})", {"bad-length 1:11 /short"}},
    {"too_long", R"({"short": "äöüß"})", {"bad-length 1:11 /short"}},
    {"code_points_count", R"({"short": "äöü"})", {}},
    {"no_match",
     R"({"version": "1a"})",
     {"bad-format 1:13 /version"},
     "optimizer:sgd: version must match ^[0-9]+$",
     "digits"},
    {"no_members", R"({"sizes": {}})", {"bad-length 1:2 /sizes"}},
    {"every_member", R"({"sizes": {"a": "x", "b": 1.5}})", {"wrong-type 1:17 /sizes/a", "wrong-type 1:27 /sizes/b"}},
    {"bad_name",
     R"({"lookup": {"A": 1}})",
     {"bad-name 1:13 /lookup/A"},
     "optimizer:sgd: lookup holds the invalid name \"A\"",
     "small letters"},
    {"by_pattern",
     R"({"by_pattern": {"n_a": "x", "m": 1}})",
     {"wrong-type 1:24 /by_pattern/n_a", "unknown-key 1:29 /by_pattern/m"}},
    {"two_of_one", R"({"one": 7})", {"bad-value 1:9 /one"}},
    {"all_of", R"({"all": 2})", {"out-of-range 1:9 /all"}},
    {"excluded", R"({"excluded": "batch"})", {"bad-value 1:14 /excluded"}},
    {"nested_unknown",
     R"({"inner": {"use": "a", "dept": 3}})",
     {"unknown-key 1:24 /inner/dept"},
     "optimizer:sgd: inner has no parameter \"dept\"",
     "did you mean \"depth\"?",
     "\"depth\""},
    {"nested_missing",
     R"({"inner": {"depth": 3}})",
     {"missing-key 1:2 /inner"},
     "optimizer:sgd: inner needs the parameter \"use\" (string)",
     "add \"use\""},
    {"misspelt_and_so_missing", R"({"inner": {"us": "a"}})", {"unknown-key 1:12 /inner/us"}},
    {"form_of_its_own_type", R"({"either": {"use": 3}})", {"wrong-type 1:20 /either/use"}},
    {"no_form",
     R"({"either": true})",
     {"wrong-type 1:12 /either"},
     "optimizer:sgd: either must be a string or an object, not true"},
    {"several",
     "{\"count\": 0,\n \"flog\": true,\n \"mode\": \"x\"}",
     {"out-of-range 1:11 /count", "unknown-key 2:2 /flog", "unknown-value 3:10 /mode"}},
};

INSTANTIATE_TEST_SUITE_P(Cases, CheckerFinds, testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Checker, AMissingKeyOfTheWholeIsShownAtItsBracket) {
  const Checked checked = check_text("\n  {}", sgd());
  EXPECT_EQ(checked.found(), (std::vector<std::string>{"missing-key 2:3 "}));
  const Diagnostic& first = checked.diagnostics.all().front();
  EXPECT_EQ(first.message, "optimizer:sgd needs the parameter \"lr\" (number > 0)");
  EXPECT_EQ(first.span.text(), "{");
  EXPECT_EQ(first.notes, (std::vector<std::string>{"lr: Learning rate"}));
}

TEST(Checker, AMemberThatCouldNotBeReadIsNotMissing) {
  EXPECT_EQ(check_text("{\"lr\": @}", sgd()).found(), (std::vector<std::string>{"unexpected 1:8 /lr"}));
}

TEST(Checker, WithoutASubjectValuesAreNamedByPath) {
  const Checked checked = check_text(R"({"lr": 1, "momentum": 2, "x": 1})", sgd(), "", "key");
  EXPECT_EQ(checked.diagnostics.all().at(0).message, "momentum must be a number from 0 to 1, not 2");
  EXPECT_EQ(checked.diagnostics.all().at(1).message, "the pipeline has no key \"x\"");
}

TEST(Checker, EveryParameterWithOneLetterLostIsFoundAndSuggested) {
  for (const Json* schema : {&sgd(), &wide()}) {
    for (const auto& [name, property] : schema->at("properties").items()) {
      for (std::size_t i = 0; i < name.size(); ++i) {
        std::string lost = name;
        lost.erase(i, 1);
        if (schema->at("properties").contains(lost)) continue;
        const Checked checked = check_text("{ \"" + lost + "\": 1 }", *schema);
        const Diagnostic& last = checked.diagnostics.all().back();  // A missing key stands at the bracket before it.
        EXPECT_EQ(last.code, "unknown-key") << lost;
        EXPECT_EQ(last.span.position(), (Position{1, 3})) << lost;
        EXPECT_EQ(last.label, "did you mean \"" + name + "\"?") << lost;
      }
    }
  }
}

TEST(Checker, ABrokenSchemaIsTheSchemasFault) {
  for (const char* schema :
       {R"({"$ref": "#/definitions/x"})", R"({"$ref": "other.json"})", R"({"type": "string", "pattern": "["})",
        R"({"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/a"}}})"}) {
    try {
      static_cast<void>(check_text("\"x\"", Json::parse(schema)));
      ADD_FAILURE() << schema;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kPlugin);
    }
  }
}

TEST(Checker, APatternNeedsNoStackForALongText) {
  const Json schema = Json::parse(R"({"type": "string", "pattern": "^(a|b)*$"})");
  const Checked checked = check_text('"' + std::string(1'000'000, 'a') + '"', schema);
  EXPECT_EQ(checked.found(), (std::vector<std::string>{"bad-format 1:1 "}));
}

}  // namespace
}  // namespace tenon::core
