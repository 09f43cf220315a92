// The resume contract of whole nodes: those that come, go, are called, or are another component.
#include <core/resume/contract.hpp>

#include <string>

#include <gtest/gtest.h>

#include <core/resume/contract_fixture.hpp>

namespace tenon::core {
namespace {

using testing::demo_text;
using testing::facts;
using testing::Facts;
using testing::graph_of;
using testing::language_text;
using testing::replaced;

TEST(ComparePipelines, a_call_has_no_state_to_lose) {
  const Graph graph = graph_of(language_text());
  Json without = graph.resolved;
  without["nodes"].erase("verdict");
  EXPECT_EQ(facts(compare_pipelines(graph.resolved, without, graph)), Facts{"/nodes/verdict: model"});
  EXPECT_EQ(facts(compare_pipelines(without, graph.resolved, graph)), Facts{"/nodes/verdict: model"});
  without = graph.resolved;
  without["nodes"].erase("view");
  EXPECT_EQ(facts(compare_pipelines(graph.resolved, without, graph)), Facts{"/nodes/view: applied"});
  Json owner = graph.resolved;
  owner["nodes"]["verdict"] = {{"in", {{"image", "painter.image"}}}, {"use", "model:judge"}, {"with", Json::object()}};
  EXPECT_EQ(
      facts(compare_pipelines(graph.resolved, owner, graph)),
      (Facts{"/nodes/verdict/call: model", "/nodes/verdict/use: model, anew verdict", "/nodes/verdict/with: model"}));
  EXPECT_EQ(facts(compare_pipelines(owner, graph.resolved, graph)),
            (Facts{"/nodes/verdict/call: model", "/nodes/verdict/use: model", "/nodes/verdict/with: model"}));
}

TEST(ComparePipelines, a_node_that_training_and_validation_share_belongs_to_training) {
  const std::string shared = replaced(demo_text(), R"("in": "val_x",   "with")", R"("in": "train_x", "with")");
  const std::string unused =
      replaced(replaced(shared, R"("val_set":   { "use")", R"("val_set":   { "disabled": true, "use")"),
               R"("val_x":     { "use")", R"("val_x":     { "disabled": true, "use")");
  const std::string before = replaced(unused, R"({ "data": "val",)", R"({ "data": "val", "allow_random": true,)");
  EXPECT_EQ(facts(before, replaced(before, R"({ "pixels": 1 })", R"({ "pixels": 2 })")),
            Facts{"/nodes/shift/with/pixels: data"});
}

TEST(ComparePipelines, another_optimizer_begins_anew_and_is_one_change) {
  const std::string after =
      replaced(replaced(demo_text(), "optimizer:adamw", "optimizer:sgd"),
               R"("groups": [ { "match": "*.bias", "with": { "weight_decay": 0 } } ])", R"("groups": [])");
  EXPECT_EQ(facts(demo_text(), after), Facts{"/nodes/opt/use: optimizer, anew opt"});
}

TEST(ComparePipelines, other_groups_begin_anew_but_not_another_value_of_a_group) {
  const std::string bias = R"({ "match": "*.bias", "with": { "weight_decay": 0 } })";
  EXPECT_EQ(
      facts(demo_text(), replaced(demo_text(), bias, R"({ "match": "*.bias", "with": { "weight_decay": 0.5 } })")),
      Facts{"/nodes/opt/groups/0/with/weight_decay: weight_decay"});
  EXPECT_EQ(
      facts(demo_text(), replaced(demo_text(), bias, R"({ "match": "*.weight", "with": { "weight_decay": 0 } })")),
      Facts{"/nodes/opt/groups/0/match: optimizer, anew opt"});
  EXPECT_EQ(facts(demo_text(), replaced(demo_text(), bias, bias + R"(, { "match": "*.weight", "with": { "lr": 1 } })")),
            Facts{"/nodes/opt/groups: optimizer, anew opt"});
}

TEST(ComparePipelines, another_model_takes_its_optimizer_along) {
  const std::string after = replaced(demo_text(), "model:cnn", "model:mlp");
  EXPECT_EQ(facts(demo_text(), after), (Facts{"/nodes/net/use: model, anew net", "/nodes/opt: model, anew opt"}));
  const std::string wider = replaced(demo_text(), R"({ "classes": 10 })", R"({ "classes": 10, "width": 7 })");
  EXPECT_EQ(facts(demo_text(), wider), Facts{"/nodes/net/with/width: model"});
}

TEST(ComparePipelines, a_node_that_comes_or_goes_is_one_change) {
  const std::string shiftless = replaced(
      replaced(demo_text(),
               R"("shift":     { "use": "transform:random_shift", "in": "train_set", "with": { "pixels": 1 } },)", ""),
      R"("in": "shift")", R"("in": "train_set")");
  EXPECT_EQ(facts(demo_text(), shiftless), (Facts{"/nodes/shift: data", "/nodes/train_x/in: data"}));
  EXPECT_EQ(facts(shiftless, demo_text()), (Facts{"/nodes/shift: data", "/nodes/train_x/in: data"}));
  const std::string scheduleless = replaced(
      demo_text(),
      R"("sched": { "use": "schedule:cosine", "of": "opt", "with": { "warmup": "50 steps", "until": "end" } },)", "");
  EXPECT_EQ(facts(demo_text(), scheduleless), Facts{"/nodes/sched: schedule"});
  EXPECT_EQ(facts(scheduleless, demo_text()), Facts{"/nodes/sched: schedule, anew sched"});
}

TEST(ComparePipelines, a_node_that_is_switched_off_is_gone) {
  const std::string off = replaced(demo_text(), R"("sched": { "use")", R"("sched": { "disabled": true, "use")");
  EXPECT_EQ(facts(demo_text(), off), Facts{"/nodes/sched: schedule"});
  EXPECT_EQ(facts(off, replaced(off, "50 steps", "60 steps")), Facts{});
}

TEST(ComparePipelines, entries_of_stop_stand_for_themselves) {
  const std::string patience = R"({ "use": "observer:patience", "with": { "metric": "acc", "patience": 8 } })";
  const auto with = [&](const std::string& entries) { return replaced(demo_text(), patience, entries); };
  EXPECT_EQ(facts(demo_text(), with(R"({ "use": "observer:patience", "with": { "metric": "acc", "patience": 9 } })")),
            Facts{"/stop/0/with/patience: applied"});
  EXPECT_EQ(facts(demo_text(), with(patience + ", " + patience)), Facts{"/stop/1: applied, anew stop/1"});
  EXPECT_EQ(facts(with(patience + ", " + patience), demo_text()), Facts{"/stop/1: applied"});
  EXPECT_EQ(facts(with(""), demo_text()), Facts{"/stop/0: applied, anew stop/0"});
}

}  // namespace
}  // namespace tenon::core
