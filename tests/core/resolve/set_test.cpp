// --set path=json.
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/resolve/resolve.hpp>
#include <core/resolve/scratch.hpp>
#include <core/text/render.hpp>

namespace tenon::core {
namespace {

struct Set {
  const char* name;
  std::vector<std::string> sets;
  const char* pointer;
  const char* value;  ///< Null: there is none.
};

// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for
void PrintTo(const Set& each, std::ostream* out) { *out << each.name; }

class SetReplaces : public testing::TestWithParam<Set> {};

TEST_P(SetReplaces, TheWholeValue) {
  const Outcome outcome = resolve_text(kSmall, GetParam().sets);
  EXPECT_FALSE(outcome.diagnostics.has_errors()) << render_text(outcome.diagnostics);
  const Json* value = outcome.resolved.find(GetParam().pointer);
  ASSERT_EQ(value == nullptr, GetParam().value == nullptr);
  if (value != nullptr) {
    EXPECT_EQ(*value, Json::parse(GetParam().value));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sets, SetReplaces,
    testing::Values(
        Set{"number", {"nodes.opt.with.lr=0.5"}, "/nodes/opt/with/lr", "0.5"},
        Set{"variable", {"vars.lr=0.5"}, "/nodes/opt/with/lr", "0.5"},
        Set{"reference", {"nodes.load.with.batch=\"${vars.epochs}\""}, "/nodes/load/with/batch", "3"},
        Set{"absent", {"fit.accumulate=4"}, "/fit/accumulate", "4"},
        Set{"absent_below_absent", {"fit.clip.norm=1.5"}, "/fit/clip/norm", "1.5"},
        Set{"absent_parameter", {"nodes.net.with.classes=10"}, "/nodes/net/with", R"({"classes": 10})"},
        Set{"object_is_replaced", {R"(nodes.opt.with={"eps": 1})"}, "/nodes/opt/with", R"({"eps": 1})"},
        Set{"whole_node",
            {R"(nodes.load={"use": "loader:x", "in": "data"})"},
            "/nodes/load",
            R"({"use": "loader:x", "in": "data"})"},
        Set{"component",
            {R"(nodes.opt.use="optimizer:sgd")"},
            "/nodes/opt",
            R"({"use": "optimizer:sgd", "of": "net"})"},
        Set{"same_component", {R"(nodes.load.use="loader:threads")"}, "/nodes/load/with", R"({"batch": 64})"},
        Set{"list_element", {R"(nodes.opt.groups.0.match="*")"}, "/nodes/opt/groups/0/match", "\"*\""},
        Set{"appended_element",
            {R"(+nodes.opt.groups.1={"match": "*", "with": {"lr": 1}})"},
            "/nodes/opt/groups/1/match",
            "\"*\""},
        Set{"deleted_element", {"nodes.opt.groups.0=null"}, "/nodes/opt/groups", "[]"},
        Set{"new_node", {R"(+nodes.extra={"use": "x:y"})"}, "/nodes/extra/use", "\"x:y\""},
        Set{"new_variable", {"+vars.x=7", "nodes.load.with.batch=\"${vars.x}\""}, "/nodes/load/with/batch", "7"},
        Set{"deleted", {"nodes.opt.groups=null"}, "/nodes/opt/groups", nullptr},
        Set{"deleted_node", {"nodes.net=null"}, "/nodes/net", nullptr},
        Set{"later_wins", {"fit.epochs=5", "fit.epochs=6"}, "/fit/epochs", "6"},
        Set{"equals_in_value", {R"(name="a"  )"}, "/name", "\"a\""}),
    [](const auto& each) { return std::string(each.param.name); });

struct Refused {
  const char* name;
  std::string set;
  Found found;
  std::string label = {};
};

// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for
void PrintTo(const Refused& each, std::ostream* out) { *out << each.name; }

class SetRefuses : public testing::TestWithParam<Refused> {};

TEST_P(SetRefuses, WithTheFix) {
  const Outcome outcome = resolve_text(kSmall, {GetParam().set});
  EXPECT_EQ(outcome.found(), GetParam().found);
  EXPECT_EQ(GetParam().label.empty() ? "" : outcome.diagnostics.all().front().label, GetParam().label);
}

INSTANTIATE_TEST_SUITE_P(
    Sets, SetRefuses,
    testing::Values(
        Refused{"text_without_quotes",
                "nodes.opt.use=optimizer:sgd",
                {"bad-set --set nodes.opt.use=… /nodes/opt/use"},
                R"(for a text write --set 'nodes.opt.use="optimizer:sgd"')"},
        Refused{"no_value",
                "fit.epochs=",
                {"bad-set --set fit.epochs=… /fit/epochs"},
                "write null to delete, \"\" for an empty text"},
        Refused{"no_equals", "fit.epochs", {"bad-set --set fit.epochs"}, "such as --set fit.accumulate=2"},
        Refused{"no_name", "fit..epochs=1", {"bad-set --set fit..epochs=… /fit"}},
        Refused{"no_path", "=1", {"bad-set --set =…"}},
        Refused{"two_values", "fit.epochs=1 2", {"bad-set --set fit.epochs=… /fit/epochs"}},
        Refused{"unknown_node",
                "nodes.op.with.lr=1",
                {"unknown-name --set nodes.op.with.lr=… /nodes/op/with/lr"},
                "did you mean \"opt\"?"},
        Refused{"unknown_variable", "vars.l=1", {"unknown-name --set vars.l=… /vars/l"}, "did you mean \"lr\"?"},
        Refused{"new_node_without_plus",
                "nodes.extra={}",
                {"unknown-name --set nodes.extra=… /nodes/extra"},
                "to add it, begin the path with +: --set +nodes.extra="},
        Refused{"deleted_unknown_node", "nodes.op=null", {"unknown-name --set nodes.op=… /nodes/op"}},
        Refused{"unknown_key", "fit.epoch=3", {"unknown-key --set fit.epoch=… /fit/epoch"}, "did you mean \"epochs\"?"},
        Refused{"unknown_section", "fti.epochs=3", {"unknown-key --set fti.epochs=… /fti"}, "did you mean \"fit\"?"},
        Refused{"below_a_scalar", "fit.loss.x=3", {"bad-set --set fit.loss.x=… /fit/loss/x"}},
        Refused{"behind_a_list",
                "nodes.opt.groups.1.match=\"*\"",
                {"unknown-name --set nodes.opt.groups.1.match=… /nodes/opt/groups/1/match"},
                "its elements are 0 to 0; +nodes.opt.groups.1 adds one"},
        Refused{"no_index", "nodes.opt.groups.x=1", {"unknown-name --set nodes.opt.groups.x=… /nodes/opt/groups/x"}},
        Refused{"extends", "extends=\"a.json\"", {"bad-set --set extends=… /extends"}},
        Refused{
            "null_inside", "nodes.opt.with={\"lr\": null}", {"null-value --set nodes.opt.with=… /nodes/opt/with/lr"}},
        Refused{"nothing_to_delete", "fit.clip=null", {"nothing-to-delete --set fit.clip=… /fit/clip"}},
        Refused{"out_of_range", "fit.epochs=0", {"out-of-range --set fit.epochs=… /fit/epochs"}},
        Refused{"unknown_reference",
                "fit.epochs=\"${vars.epoch}\"",
                {"unknown-variable --set fit.epochs=… /fit/epochs"},
                "did you mean ${vars.epochs}?"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Set, TellsTheNumberOfAnElementThatIsNamed) {
  const std::string text = std::string(kSmall).replace(
      kSmall.find("\"fit\""), 0,
      R"("predict": { "data": "load", "outputs": ["net.logits", { "name": "digit", "from": "net.logits" }] },)");
  const auto label = [&](const std::string& set) { return resolve_text(text, {set}).diagnostics.all().front().label; };
  EXPECT_EQ(label("predict.outputs.digit.axis=1"), "the element of that name is predict.outputs.1.axis");
  EXPECT_EQ(label("predict.outputs.digit=null"), "the element of that name is predict.outputs.1");
  EXPECT_EQ(label("predict.outputs.net.logits.axis=1"),
            "predict.outputs.0 is the text \"net.logits\" and holds nothing by name: set the whole of it");
  EXPECT_EQ(label("predict.outputs.net.axis=1"), "its elements are 0 to 1; +predict.outputs.2 adds one");
}

TEST(Set, MarksTheValueWithinTheArgument) {
  const Outcome outcome = resolve_text(kSmall, {"fit.accumulate=-1"});
  EXPECT_EQ(render_text(outcome.diagnostics),
            "error[out-of-range]: fit.accumulate must be an integer from 1 to 1000000, not -1\n"
            "  --> --set fit.accumulate=…  /fit/accumulate\n"
            "   | --set fit.accumulate=-1\n"
            "   |                      ^^ allowed: integer 1..1000000\n"
            "1 error; nothing was started\n");
}

TEST(Set, TheOriginIsTheArgument) {
  const Outcome outcome = resolve_text(kSmall, {"fit.accumulate=2"});
  const Origin& origin = outcome.resolved.origin("/fit/accumulate");
  EXPECT_EQ(origin.kind, LayerKind::kSet);
  EXPECT_EQ(origin.describe(), "--set fit.accumulate=…");
  EXPECT_EQ(origin.value.text(), "2");
  EXPECT_EQ(origin.key.text(), "accumulate");
}

TEST(Set, ADeepPathIsRefused) {
  std::string path = "nodes";
  for (int i = 0; i < 100'000; ++i) path += ".a";
  EXPECT_EQ(resolve_text(kSmall, {fmt::format("+{}=1", path)}).diagnostics.all().front().code, "bad-set");
}

}  // namespace
}  // namespace tenon::core
