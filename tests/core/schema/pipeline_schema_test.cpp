// The schema of pipeline files: it is embedded whole, describes itself, and fills in what its author promises.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/json/pointer.hpp>
#include <core/schema/checked.hpp>
#include <core/schema/defaults.hpp>
#include <core/schema/describe.hpp>
#include <core/schema/embedded.hpp>

namespace tenon::core {
namespace {

const Json& schema() {
  static const Json value = Json::parse(embedded_schema("pipeline-1"));
  return value;
}

std::string minimal(const std::string& more = "") {
  return R"({"format": 1, "name": "x", "nodes": {}, "fit": {"data": "d", "loss": "l", "epochs": 1})" + more + "}";
}

std::vector<std::string> codes(const std::string& text) {
  std::vector<std::string> out;
  const Checked checked = check_text(text, schema(), "", "key");
  for (const Diagnostic& each : checked.diagnostics.all()) out.push_back(each.code + " " + each.pointer);
  return out;
}

TEST(PipelineSchema, IsEmbeddedByteForByte) {
  std::ifstream file(std::string(TENON_SOURCE_DIR) + "/schemas/pipeline-1.schema.json", std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  EXPECT_EQ(embedded_schema("pipeline-1"), text.str());
  EXPECT_EQ(embedded_schema("pipeline-2"), "");
}

void expect_described(const Json& value, const std::string& pointer) {
  if (const Json* properties = find_member(value, "properties")) {
    for (const auto& [name, property] : properties->items()) {
      EXPECT_NE(find_member(follow_reference(property, schema()), "description"), nullptr) << pointer << "/" << name;
    }
  }
  if (value.is_structured()) {
    for (const auto& [key, member] : value.items()) expect_described(member, child_pointer(pointer, key));
  }
}

TEST(PipelineSchema, DescribesEveryKey) { expect_described(schema(), ""); }

/// Every "$ref" leads somewhere, and every default is what its own schema demands.
void expect_sound(const Json& value, const std::string& pointer) {
  if (find_member(value, "$ref") != nullptr) {
    EXPECT_NO_THROW(static_cast<void>(follow_reference(value, schema()))) << pointer;
  }
  if (const Json* fallback = find_member(value, "default")) {
    Json whole = value;
    whole["definitions"] = schema().at("definitions");
    EXPECT_EQ(check_text(fallback->dump(), whole).found(), std::vector<std::string>{}) << pointer;
  }
  if (value.is_structured()) {
    for (const auto& [key, member] : value.items()) expect_sound(member, child_pointer(pointer, key));
  }
}

TEST(PipelineSchema, HasSoundReferencesAndDefaults) { expect_sound(schema(), ""); }

TEST(PipelineSchema, FillsInTheDefaults) {
  Json value = Json::parse(minimal(R"(, "validate": {"data": "d", "metrics": ["m"]})"));
  fill_defaults(value, schema());
  EXPECT_EQ(value.at("run"), Json::parse(R"({"seed": 0, "device": "auto", "determinism": "strict", "float32": "ieee",
      "threads": "auto", "autotune": "off", "distributed": "auto", "dir": "runs"})"));
  EXPECT_EQ(value.at("checkpoint"), Json::parse(R"({"every": "1 epoch", "keep": {"last": 2}})"));
  EXPECT_EQ(value.at("fit").at("accumulate"), 1);
  EXPECT_EQ(value.at("validate").at("every"), "1 epoch");
  EXPECT_FALSE(value.contains("stop"));
}

TEST(PipelineSchema, FillsInTheDefaultsOfPhasesValidationsAndPredictions) {
  Json value = Json::parse(R"({"format": 1, "name": "x", "nodes": {"a": {"use": "x:y"}},
      "fit": {"data": "d", "epochs": 1, "phases": [{"name": "a", "loss": "l", "optimizers": ["o"]}]},
      "validate": {"clean": {"data": "d", "metrics": ["m"]}, "other": {"data": "d", "metrics": ["m"], "every": "2 epochs"}},
      "predict": {"data": "d", "outputs": {"a": "b.c", "d": {"from": "b.c"}}}})");
  fill_defaults(value, schema());
  EXPECT_EQ(value.at("nodes").at("a"), Json::parse(R"({"use": "x:y"})"));
  EXPECT_EQ(value.at("fit").at("phases").at(0).at("repeat"), 1);
  EXPECT_EQ(value.at("validate").at("clean").at("every"), "1 epoch");
  EXPECT_EQ(value.at("validate").at("other").at("every"), "2 epochs");
  EXPECT_FALSE(value.at("validate").contains("every"));
  EXPECT_EQ(value.at("predict").at("outputs"), Json::parse(R"({"a": "b.c", "d": {"from": "b.c", "as": "value"}})"));
}

struct Pipeline {
  std::string more;
  std::vector<std::string> found;
};

class PipelineSchemaOn : public testing::TestWithParam<Pipeline> {};

TEST_P(PipelineSchemaOn, SaysWhatIsWrong) { EXPECT_EQ(codes(minimal(GetParam().more)), GetParam().found); }

using Found = std::vector<std::string>;

INSTANTIATE_TEST_SUITE_P(
    Cases, PipelineSchemaOn,
    testing::Values(
        Pipeline{"", {}},  //
        Pipeline{R"(, "extends": ["a.json"], "vars": {"lr": 1}, "observe": [], "export": ["s"])", {}},
        Pipeline{R"(, "run": {"dir": "out", "distributed": "ddp"})", {}},
        Pipeline{R"(, "validate": {"data": "v", "metrics": ["a"], "every": ["1 epoch", "10 min"]})", {}},
        Pipeline{R"(, "checkpoint": {"every": "500 steps", "keep": {"best": {"metric": "a", "count": 2}}})", {}},
        Pipeline{R"(, "checkpoint": {"every": 5})", {"bad-unit /checkpoint/every"}},
        Pipeline{R"(, "checkpoint": {"every": "0 steps"})", {"out-of-range /checkpoint/every"}},
        Pipeline{R"(, "checkpoint": {"every": []})", {"bad-length /checkpoint/every"}},
        Pipeline{R"(, "validate": {"data": "v", "metrics": [], "every": ["1 epoch", "x"]})",
                 {"bad-length /validate/metrics", "bad-unit /validate/every/1"}},
        Pipeline{R"(, "run": {"seed": -1, "device": "gpu", "threads": 0})",
                 {"out-of-range /run/seed", "unknown-value /run/device", "out-of-range /run/threads"}},
        Pipeline{R"(, "vars": {"Lr": 1})", {"bad-name /vars/Lr"}},
        Pipeline{R"(, "stop": [{"with": {}}])", {"missing-key /stop/0"}},
        Pipeline{R"(, "predict": {})", {"missing-key /predict", "missing-key /predict"}},
        Pipeline{R"(, "predict": {"data": "d", "outputs": ["a.b", {"name": "c", "from": "a.b"}]})", {}},
        Pipeline{R"(, "predict": {"data": "d", "outputs": {"c": "a.b", "d": {"from": "a.b", "as": "argmax"}}})", {}},
        Pipeline{R"(, "predict": {"data": "d", "outputs": []})", {"bad-length /predict/outputs"}},
        Pipeline{R"(, "predict": {"data": "d", "outputs": {"c": {"form": "argmax"}}})",
                 {"unknown-key /predict/outputs/c/form"}},
        Pipeline{R"(, "validate": {"clean": {"data": "v", "metrics": ["a"], "limit": 1}})", {}},
        Pipeline{R"(, "validate": {"clean": {"dat": "v", "metrics": ["a"], "limit": 0}})",
                 {"unknown-key /validate/clean/dat", "out-of-range /validate/clean/limit"}},
        Pipeline{R"(, "validate": {"dat": "v", "limit": 0})",
                 {"missing-key /validate", "unknown-key /validate/dat", "out-of-range /validate/limit"}},
        Pipeline{R"(, "validate": {"dat": "v", "metrics": {"a": 1}})",
                 {"unknown-key /validate/dat", "wrong-type /validate/metrics"}},
        Pipeline{R"(, "validate": {"every": {"data": "v", "metrics": ["a"]}, "a": 3})",
                 {"bad-name /validate/every", "wrong-type /validate/a"}},
        Pipeline{R"(, "test": {"data": "v", "metrics": ["a"], "limit": 1.5})", {"wrong-type /test/limit"}}));

TEST(PipelineSchema, KnowsWhatAPhaseMayHold) {
  const auto fit = [](const std::string& body) {
    return codes(R"({"format": 1, "name": "x", "nodes": {}, "fit": {"data": "d", "epochs": 1)" + body + "}}");
  };
  EXPECT_EQ(fit(""), Found{});  // the graph asks for a loss or phases
  EXPECT_EQ(fit(R"(, "phases": [{"name": "a", "loss": {"l": 2}, "optimizers": ["o"], "repeat": 2, "data": "d"}])"),
            Found{});
  EXPECT_EQ(fit(R"(, "phases": [])"), Found{"bad-length /fit/phases"});
  EXPECT_EQ(fit(R"(, "phases": [{"name": "A", "loss": "l", "optimizers": ["o", "o"], "repeat": 0}])"),
            (Found{"bad-format /fit/phases/0/name", "bad-length /fit/phases/0/optimizers/1",
                   "out-of-range /fit/phases/0/repeat"}));
  EXPECT_EQ(
      fit(R"(, "phases": [{"losses": "l", "optimizers": []}])"),
      (Found{"missing-key /fit/phases/0", "unknown-key /fit/phases/0/losses", "bad-length /fit/phases/0/optimizers"}));
  EXPECT_EQ(fit(R"(, "limit": 0, "overfit": "2")"), (Found{"out-of-range /fit/limit", "wrong-type /fit/overfit"}));
}

TEST(PipelineSchema, KnowsWhatANodeMayHold) {
  const auto node = [](const std::string& body) {
    return codes(
        R"({"format": 1, "name": "x", "fit": {"data": "d", "loss": {"a": 0.5}, "epochs": 1, "clip": {"norm": 1}},
                    "nodes": {)" +
        body + "}}");
  };
  EXPECT_EQ(
      node(
          R"("a": {"use": "x:y", "in": ["b"], "with": {}, "disabled": true}, "b_2": {"use": "x:y", "in": {"p": "a.o"}})"),
      Found{});
  EXPECT_EQ(node(R"("opt": {"use": "x:y", "of": ["a", "b"], "groups": [{"match": "*.bias", "with": {"wd": 0}}]})"),
            Found{});
  EXPECT_EQ(node(R"("opt": {"use": "x:y", "groups": [{"match": "*"}]})"), Found{"missing-key /nodes/opt/groups/0"});
  EXPECT_EQ(node(R"("batch": {"use": "x:y"})"), Found{"bad-name /nodes/batch"});
  EXPECT_EQ(node(R"("a": {"call": "b", "in": "c"}, "b": {"use": "x:y", "frozen": true, "load": "w.safetensors"})"),
            Found{});
  EXPECT_EQ(node(R"("a": {"call": "", "frozen": 1, "load": ""})"),
            (Found{"bad-length /nodes/a/call", "wrong-type /nodes/a/frozen", "bad-length /nodes/a/load"}));
  EXPECT_EQ(node(R"("a": {})"), Found{});  // the graph asks for "use" or "call"
  EXPECT_EQ(node(R"("a": {"use": "x:y", "in": {"p": 3}})"), Found{"wrong-type /nodes/a/in/p"});
}

}  // namespace
}  // namespace tenon::core
