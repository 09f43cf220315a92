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

struct Pipeline {
  std::string more;
  std::vector<std::string> found;
};

class PipelineSchemaOn : public testing::TestWithParam<Pipeline> {};

TEST_P(PipelineSchemaOn, SaysWhatIsWrong) { EXPECT_EQ(codes(minimal(GetParam().more)), GetParam().found); }

using Found = std::vector<std::string>;

INSTANTIATE_TEST_SUITE_P(
    Cases, PipelineSchemaOn,
    testing::Values(Pipeline{"", {}},  //
                    Pipeline{R"(, "extends": ["a.json"], "vars": {"lr": 1}, "observe": [], "export": ["s"])", {}},
                    Pipeline{R"(, "run": {"dir": "out", "distributed": "ddp"})", {}},
                    Pipeline{R"(, "validate": {"data": "v", "metrics": ["a"], "every": ["1 epoch", "10 min"]})", {}},
                    Pipeline{R"(, "checkpoint": {"every": "500 steps", "keep": {"best": {"metric": "a", "count": 2}}})",
                             {}},
                    Pipeline{R"(, "checkpoint": {"every": 5})", {"bad-unit /checkpoint/every"}},
                    Pipeline{R"(, "checkpoint": {"every": "0 steps"})", {"out-of-range /checkpoint/every"}},
                    Pipeline{R"(, "checkpoint": {"every": []})", {"bad-length /checkpoint/every"}},
                    Pipeline{R"(, "validate": {"data": "v", "metrics": [], "every": ["1 epoch", "x"]})",
                             {"bad-length /validate/metrics", "bad-unit /validate/every/1"}},
                    Pipeline{R"(, "run": {"seed": -1, "device": "gpu", "threads": 0})",
                             {"out-of-range /run/seed", "unknown-value /run/device", "out-of-range /run/threads"}},
                    Pipeline{R"(, "vars": {"Lr": 1})", {"bad-name /vars/Lr"}},
                    Pipeline{R"(, "stop": [{"with": {}}])", {"missing-key /stop/0"}},
                    Pipeline{R"(, "predict": {})", {"unknown-key /predict"}}));

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
  EXPECT_EQ(node(R"("a": {"call": "b"})"), (Found{"missing-key /nodes/a", "unknown-key /nodes/a/call"}));
  EXPECT_EQ(node(R"("a": {"use": "x:y", "in": {"p": 3}})"), Found{"wrong-type /nodes/a/in/p"});
}

}  // namespace
}  // namespace tenon::core
