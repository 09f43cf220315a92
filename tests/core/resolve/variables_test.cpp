// References to variables.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/resolve/resolve.hpp>
#include <core/resolve/scratch.hpp>

namespace tenon::core {
namespace {

/// A pipeline with these variables and these parameters of node "a".
Outcome resolve_vars(const std::string& vars, const std::string& with) {
  return resolve_text(fmt::format(R"({{"format": 1, "name": "x", "fit": {{"data": "d", "loss": "l", "epochs": 1}},
"vars": {},
"nodes": {{"a": {{"use": "x:y", "with":
{}}}}}}})",
                                  vars, with));
}

TEST(Variables, AloneTheyKeepTheirType) {
  const Outcome outcome = resolve_vars(R"({"i": 3, "f": 0.5, "b": true, "s": "t", "l": [1, 2], "o": {"k": 1}})",
                                       R"({"i": "${vars.i}", "f": "${vars.f}", "b": "${vars.b}", "s": "${vars.s}",
                                           "l": "${vars.l}", "o": ["${vars.o}"]})");
  EXPECT_EQ(outcome.found(), Found{});
  EXPECT_EQ(outcome.at("/nodes/a/with"),
            Json::parse(R"({"i": 3, "f": 0.5, "b": true, "s": "t", "l": [1, 2], "o": [{"k": 1}]})"));
}

TEST(Variables, WithinATextTheyBecomeText) {
  const Outcome outcome = resolve_vars(R"({"i": 3, "f": 0.5, "s": "t"})", R"({"x": "a${vars.i}b${vars.s}${vars.f}"})");
  EXPECT_EQ(outcome.found(), Found{});
  EXPECT_EQ(outcome.at("/nodes/a/with/x"), "a3bt0.5");
}

TEST(Variables, ADollarAloneIsADollar) {
  const Outcome outcome = resolve_vars("{}", R"({"x": "$5 {a} $$ $"})");
  EXPECT_EQ(outcome.found(), Found{});
  EXPECT_EQ(outcome.at("/nodes/a/with/x"), "$5 {a} $$ $");
}

TEST(Variables, PartsOfAStructuredVariableKnowBothPlaces) {
  const Outcome outcome = resolve_vars(R"({"l": [10, 20]})", R"({"l": "${vars.l}"})");
  const Origin& origin = outcome.resolved.origin("/nodes/a/with/l/1");
  EXPECT_EQ(origin.value.describe(), "pipe.json:4:7");
  EXPECT_EQ(origin.variable_value.describe(), "pipe.json:2:20");
  EXPECT_EQ(origin.describe(), "vars.l at pipe.json:2:20");
}

struct Wrong {
  std::string vars;
  std::string with;
  Found found;
  std::string label;
};

class VariablesRefuse : public testing::TestWithParam<Wrong> {};

TEST_P(VariablesRefuse, WithTheFix) {
  const Outcome outcome = resolve_vars(GetParam().vars, GetParam().with);
  EXPECT_EQ(outcome.found(), GetParam().found);
  EXPECT_EQ(outcome.diagnostics.all().front().label, GetParam().label);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, VariablesRefuse,
    testing::Values(Wrong{R"({"rate": 1})",
                          R"({"x": "${vars.rat}"})",
                          {"unknown-variable pipe.json:4:7 /nodes/a/with/x"},
                          "did you mean ${vars.rate}?"},
                    Wrong{R"({"rate": 1})",
                          R"({"x": "a ${vars.rat} b"})",
                          {"unknown-variable pipe.json:4:7 /nodes/a/with/x"},
                          "did you mean ${vars.rate}?"},
                    Wrong{"{}", R"({"x": "${vars.rate}"})", {"unknown-variable pipe.json:4:7 /nodes/a/with/x"}, ""},
                    Wrong{R"({"rate": 1})",
                          R"({"x": "${rate}"})",
                          {"bad-reference pipe.json:4:7 /nodes/a/with/x"},
                          "did you mean ${vars.rate}?"},
                    Wrong{R"({"rate": 1})",
                          R"({"x": "${var.rate}"})",
                          {"bad-reference pipe.json:4:7 /nodes/a/with/x"},
                          "did you mean ${vars.rate}?"},
                    Wrong{"{}",
                          R"({"x": "${HOME}"})",
                          {"bad-reference pipe.json:4:7 /nodes/a/with/x"},
                          "references are written ${vars.name}"},
                    Wrong{R"({"rate": 1})",
                          R"({"x": "${vars.rate", "y": "${vars.rate}"})",
                          {"bad-reference pipe.json:4:7 /nodes/a/with/x"},
                          "write } behind the name"},
                    Wrong{R"({"l": [1]})",
                          R"({"x": "a${vars.l}"})",
                          {"bad-reference pipe.json:4:7 /nodes/a/with/x"},
                          "use it alone, as the whole string"},
                    Wrong{R"({"a": 1, "b": "${vars.a}"})",
                          R"({"x": "${vars.b}"})",
                          {"nested-variable pipe.json:2:23 /vars/b"},
                          "write the value itself"},
                    Wrong{R"({"a": 1})",
                          "{}",
                          {"unused-variable pipe.json:2:10 /vars/a"},
                          "refer to it as \"${vars.a}\", or remove it"}));

TEST(Variables, AnUnknownOneLeavesNoFurtherErrors) {
  std::string text = kSmall;
  text.replace(text.find("${vars.epochs}"), 14, "${vars.epoch}");
  const Outcome outcome = resolve_text(text);
  EXPECT_EQ(outcome.found(), (Found{"unknown-variable pipe.json:13:54 /fit/epochs"}));
  ASSERT_TRUE(outcome.diagnostics.all().front().suggestion.has_value());
  EXPECT_EQ(outcome.diagnostics.all().front().suggestion->replacement, "\"${vars.epochs}\"");
}

TEST(Variables, UsedInALayerThatIsReplacedTheyAreUsed) {
  EXPECT_EQ(resolve_text(kSmall, {"fit.epochs=1", "nodes.opt.with.lr=1"}).found(), Found{});
}

TEST(Variables, UnusedIsAWarning) {
  const Outcome outcome = resolve_vars(R"({"a": 1})", "{}");
  EXPECT_EQ(outcome.diagnostics.warnings(), 1U);
  EXPECT_EQ(outcome.diagnostics.exit_code(), 0);
}

TEST(Variables, ASmallFileCannotFillTheMemory) {
  std::string list = "[0";
  for (int i = 0; i < 3000; ++i) list += ",0";
  std::string with = "{\"x\": [0";
  for (int i = 0; i < 3000; ++i) with += ",\"${vars.l}\"";
  const Outcome outcome = resolve_vars(fmt::format(R"({{"l": {}]}})", list), with.append("]}"));
  ASSERT_EQ(outcome.diagnostics.errors(), 1U);
  EXPECT_EQ(outcome.diagnostics.all().front().code, "bad-reference");
}

}  // namespace
}  // namespace tenon::core
