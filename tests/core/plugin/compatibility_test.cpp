// What a change of a manifest means for pipelines that use the plugin.
#include <core/plugin/compatibility.hpp>

#include <gtest/gtest.h>

#include <core/plugin/made_plugin.hpp>

namespace tenon::core {
namespace {

constexpr const char* kOld = R"({
  "manifest": 1, "id": "org.example.one", "version": "1.2.0", "licence": "MIT", "api": 1,
  "fingerprint": "cxxabi=itanium string=cxx11 debug=0 sanitize=none", "namespaces": [],
  "components": [
    { "kind": "metric", "name": "score", "summary": "A score", "interface": "tenon.metric", "revision": 1,
      "parameters": { "type": "object", "additionalProperties": false, "required": ["classes"], "properties": {
        "classes": { "type": "integer", "minimum": 2, "description": "Classes" },
        "share": { "type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.5, "description": "Share" },
        "mode": { "type": "string", "enum": ["mean", "sum"], "default": "mean", "description": "Mode" },
        "bins": { "type": "array", "items": { "type": "integer", "minimum": 1 }, "default": [], "description": "Bins" },
        "lr": { "type": "number", "default": 0.1, "description": "Rate", "x-schedulable": true },
        "crop": { "type": "object", "additionalProperties": false, "description": "Crop", "properties": {
          "size": { "type": "integer", "default": 8, "description": "Side" } } } } },
      "ports": { "in": [ { "name": "logits", "dtype": ["float32"], "shape": ["N", "$classes"] },
                         { "name": "weight", "dtype": ["float32"], "shape": ["N"], "optional": true } ],
                 "out": [ { "name": "each", "dtype": ["float32"], "shape": ["N"] } ] },
      "metrics": [ { "name": "value", "direction": "max" }, { "name": "error", "direction": "min" } ],
      "abilities": ["tenon.controller/1"], "traits": ["deterministic"] } ] })";

struct Case {
  std::string name;
  std::string pointer;  ///< What changes in the manifest.
  Json value;           ///< Its new value; discarded to take it away.
  std::string change;   ///< "effect place: text" of the one change; empty when none is expected.
  std::string step = {};
};

const Json kGone = Json(Json::value_t::discarded);
const std::string kComponent = "/components/0";
const std::string kParameters = kComponent + "/parameters/properties";

std::string text_of(const PluginChange& change) {
  std::string text(to_string(change.effect));
  if (!change.place.empty()) text += " " + change.place;
  return text + ": " + change.text;
}

class Compatibility : public testing::TestWithParam<Case> {};

TEST_P(Compatibility, one_change_of_a_manifest_is_told_with_its_effect) {
  const Json old = Json::parse(kOld);
  Json now = old;
  const Json::json_pointer place(GetParam().pointer);
  if (!GetParam().value.is_discarded()) {
    now[place] = GetParam().value;
  } else if (now[place.parent_pointer()].is_array()) {
    now[place.parent_pointer()].erase(std::stoul(place.back()));
  } else {
    now[place.parent_pointer()].erase(place.back());
  }
  const PluginInfo before = parse_manifest(old);
  const PluginInfo after = parse_manifest(now, Revisions::kAny);
  const std::vector<PluginChange> changes = compare_plugins(before, after);
  ASSERT_EQ(changes.size(), GetParam().change.empty() ? 0U : 1U);
  EXPECT_EQ(changes.empty() ? std::string() : text_of(changes[0]), GetParam().change);
  EXPECT_EQ(missing_version_step(before, after, changes), GetParam().step);
}

const Case kCases[]{
    {"nothing", "/version", "1.2.0", ""},
    {"licence", "/licence", "ISC", "compatible licence: it was MIT and is ISC"},
    {"api", "/api", 2, "breaking api: it was 1 and is 2: it needs a Tenon of that API", "major"},
    {"id", "/id", "org.example.two", "breaking id: it was org.example.one and is org.example.two", "major"},
    {"namespaces", "/namespaces", {"mine"}, "compatible torch namespaces: they were [] and are [mine]"},
    {"revision", kComponent + "/revision", 2,
     "breaking interface: it was tenon.metric revision 1 and is revision 2: it needs a Tenon of that revision",
     "major"},
    {"summary", kComponent + "/summary", "Other words", "compatible summary: it is described otherwise"},

    {"parameter_gone", kParameters + "/share", kGone, "breaking parameter share: it is gone", "major"},
    {"parameter_new", kParameters + "/more", Json{{"type", "integer"}, {"default", 1}, {"description", "More"}},
     "compatible parameter more: it is new, with a default"},
    {"default_needed_no_longer", kComponent + "/parameters/required", Json::array(),
     "compatible parameter classes: it has a default now"},
    {"must_be_given_now",
     kComponent + "/parameters/required",
     {"classes", "share"},
     "breaking parameter share: it had a default and must be given now",
     "major"},
    {"default", kParameters + "/share/default", 0.25, "results parameter share: its default was 0.5 and is 0.25",
     "minor"},
    {"described", kParameters + "/share/description", "Part", "compatible parameter share: it is described otherwise"},
    {"integer_to_number", kParameters + "/classes/type", "number",
     "compatible parameter classes: it took integer >= 2 and takes more: number >= 2"},
    {"number_to_integer", kParameters + "/lr/type", "integer",
     "breaking parameter lr: it took number and takes integer", "major"},
    {"least_rises", kParameters + "/classes/minimum", 3,
     "breaking parameter classes: it took integer >= 2 and takes integer >= 3", "major"},
    {"least_falls", kParameters + "/classes/minimum", 1,
     "compatible parameter classes: it took integer >= 2 and takes more: integer >= 1"},
    {"greatest_falls", kParameters + "/share/maximum", 0.5,
     "breaking parameter share: it took number > 0 and <= 1 and takes number > 0 and <= 0.5", "major"},
    {"greatest_is_gone", kParameters + "/share/maximum", kGone,
     "compatible parameter share: it took number > 0 and <= 1 and takes more: number > 0"},
    {"word_gone",
     kParameters + "/mode/enum",
     {"mean", "median"},
     "breaking parameter mode: it took \"mean\" | \"sum\" and takes \"mean\" | \"median\"",
     "major"},
    {"word_new",
     kParameters + "/mode/enum",
     {"mean", "sum", "median"},
     "compatible parameter mode: it took \"mean\" | \"sum\" and takes more: \"mean\" | \"sum\" | \"median\""},
    {"elements", kParameters + "/bins/items/minimum", 2,
     "breaking parameter bins: it took list of integer >= 1 and takes list of integer >= 2", "major"},
    {"member", kParameters + "/crop/properties/size/default", 4,
     "results parameter crop.size: its default was 8 and is 4", "minor"},
    {"schedulable", kParameters + "/lr/x-schedulable", kGone, "breaking parameter lr: it can be scheduled no longer",
     "major"},

    {"input_gone", kComponent + "/ports/in/1", kGone, "breaking input weight: it is gone", "major"},
    {"input_must_be_wired", kComponent + "/ports/in/1/optional", kGone,
     "breaking input weight: it could be left out and must be wired", "major"},
    {"input_may_be_left_out", kComponent + "/ports/in/0/optional", true,
     "compatible input logits: it may be left out now"},
    {"input_takes_more",
     kComponent + "/ports/in/0/dtype",
     {"float32", "float64"},
     "compatible input logits: it took float32[N, $classes] and takes float32|float64[N, $classes]"},
    {"input_takes_less",
     kComponent + "/ports/in/0/dtype",
     {"float64"},
     "breaking input logits: it took float32[N, $classes] and takes float64[N, $classes]",
     "major"},
    {"input_shape",
     kComponent + "/ports/in/0/shape",
     {"N", "C", "*"},
     "breaking input logits: it took float32[N, $classes] and takes float32[N, C, *]",
     "major"},
    {"input_new", kComponent + "/ports/in/2", Json{{"name", "mask"}, {"optional", true}},
     "compatible input mask: it is new and may be left out"},
    {"input_new_and_needed", kComponent + "/ports/in/2", Json{{"name", "mask"}},
     "breaking input mask: it is new and must be wired", "major"},
    {"output_gone", kComponent + "/ports/out", Json::array(), "breaking output each: it is gone", "major"},
    {"output_type",
     kComponent + "/ports/out/0/dtype",
     {"float64"},
     "breaking output each: it gave float32[N] and gives float64[N]",
     "major"},
    {"output_new", kComponent + "/ports/out/1", Json{{"name", "sum"}}, "compatible output sum: it is new"},

    {"metric_gone", kComponent + "/metrics/1", kGone, "breaking value error: it is gone", "major"},
    {"metric_turned", kComponent + "/metrics/1/direction", "max",
     "breaking value error: the direction in which it gets better is turned round", "major"},
    {"ability_gone", kComponent + "/abilities", Json::array(), "breaking ability tenon.controller/1: it is gone",
     "major"},
    {"deterministic_no_longer", kComponent + "/traits", Json::array(), "breaking trait deterministic: it is gone",
     "major"},
    {"trait_new",
     kComponent + "/traits",
     {"deterministic", "batch_coupled"},
     "breaking trait batch_coupled: it is new",
     "major"},
};

INSTANTIATE_TEST_SUITE_P(Each, Compatibility, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

TEST(Compatibility, components_come_and_go) {
  const PluginInfo old = parse_manifest(made_manifest("org.example.one", {made_component("loss", "a")}));
  const PluginInfo now = parse_manifest(made_manifest("org.example.one", {made_component("loss", "b")}));
  const std::vector<PluginChange> changes = compare_plugins(old, now);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].component + " " + text_of(changes[0]), "loss:a breaking: it is gone");
  EXPECT_EQ(changes[1].component + " " + text_of(changes[1]), "loss:b compatible: it is new");
}

TEST(Compatibility, a_renamed_parameter_is_recognized) {
  Json now = Json::parse(kOld);
  Json& properties = now["components"][0]["parameters"]["properties"];
  properties["shares"] = properties["share"];
  properties.erase("share");
  const std::vector<PluginChange> changes =
      compare_plugins(parse_manifest(std::string_view(kOld)), parse_manifest(now));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(text_of(changes[0]), "breaking parameter share: it is gone; shares is new");
}

TEST(Compatibility, a_version_that_grew_enough_is_left_alone) {
  PluginInfo old = parse_manifest(std::string_view(kOld));
  PluginInfo now = old;
  const std::vector<PluginChange> breaking{{Effect::kBreaking, "", "", ""}};
  const auto step = [&](const char* before, const char* after) {
    old.version = before;
    now.version = after;
    return missing_version_step(old, now, breaking);
  };
  EXPECT_EQ(step("1.2.0", "2.0.0"), "");
  EXPECT_EQ(step("1.2.0", "1.3.0"), "major");
  EXPECT_EQ(step("2.0.0", "1.9.0"), "major");
  EXPECT_EQ(step("0.2.0", "0.3.0"), "");
  EXPECT_EQ(step("0.2.0", "0.2.1"), "minor");
  EXPECT_EQ(step("0.9.0", "1.0.0"), "");
}

}  // namespace
}  // namespace tenon::core
