// The resume contract: every place of a pipeline and of a provenance, and what a change of it means.
#include <core/resume/contract.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/graph/fixture.hpp>
#include <core/json/pointer.hpp>
#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

using testing::build;
using testing::Built;
using testing::demo_text;
using testing::language_text;
using testing::replaced;

const char* const kMetricSchedule =
    R"({ "use": "schedule:plateau", "of": "opt", "with": { "metric": "acc", "factor": 0.5 } })";

/// The demo with a schedule that reads a metric.
std::string plateau_text() {
  return replaced(demo_text(),
                  R"({ "use": "schedule:cosine", "of": "opt", "with": { "warmup": "50 steps", "until": "end" } })",
                  kMetricSchedule);
}

std::string plain_schedule_text() {
  return replaced(demo_text(),
                  R"({ "use": "schedule:cosine", "of": "opt", "with": { "warmup": "50 steps", "until": "end" } })",
                  R"({ "use": "schedule:constant", "of": "opt" })");
}

Graph graph_of(const std::string& text) {
  Built built = build(text);
  EXPECT_TRUE(built.graph) << built.text();
  return std::move(*built.graph);
}

/// Another value of the same type.
Json changed(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() + 1;
  if (value.is_string()) return value.get<std::string>() + "_";
  return Json("something else");
}

void each_leaf(const Json& value, const std::string& pointer, const std::function<void(const std::string&)>& visit) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, member] : value.items()) each_leaf(member, child_pointer(pointer, key), visit);
  } else if (value.is_array() && !value.empty() && value[0].is_object()) {
    for (std::size_t i = 0; i < value.size(); ++i) each_leaf(value[i], child_pointer(pointer, i), visit);
  } else {
    visit(pointer);
  }
}

/// Changes as "pointer: word" or "pointer: applied".
std::vector<std::string> facts(const std::vector<Change>& changes) {
  std::vector<std::string> out;
  for (const Change& change : changes) {
    const bool applied = change.effect == Effect::kApplied;
    EXPECT_EQ(applied, change.accept.empty()) << change.pointer;
    EXPECT_FALSE(change.consequence.empty()) << change.pointer;
    out.push_back(fmt::format("{}: {}{}", change.pointer, applied ? "applied" : change.accept,
                              change.begins_anew.empty() ? "" : ", anew " + change.begins_anew));
  }
  return out;
}

/// What comes of a run of the first pipeline that goes on with the second.
std::vector<std::string> facts(const std::string& before, const std::string& after) {
  const Graph was = graph_of(before);
  const Graph is = graph_of(after);
  return facts(compare_pipelines(was.resolved, is.resolved, is));
}

using Facts = std::vector<std::string>;
using Sides = std::pair<const Json*, const Json*>;

// Each leaf of the demo and the word that a change of it needs; "" for applied.
const std::map<std::string, std::string> kDemo{
    {"/checkpoint/every", ""},
    {"/checkpoint/keep/best/count", ""},
    {"/checkpoint/keep/best/metric", ""},
    {"/checkpoint/keep/last", ""},
    {"/export", ""},
    {"/fit/accumulate", "accumulate"},
    {"/fit/clip/norm", "clip"},
    {"/fit/data", "data"},
    {"/fit/epochs", "schedule"},
    {"/fit/loss", "loss"},
    {"/fit/precision", "precision"},
    {"/format", "other"},
    {"/name", ""},
    {"/nodes/acc/in/logits", ""},
    {"/nodes/acc/in/target", ""},
    {"/nodes/acc/use", ""},
    {"/nodes/acc/with/ignore_index", ""},
    {"/nodes/acc/with/top_k", ""},
    {"/nodes/loss/in/logits", "loss"},
    {"/nodes/loss/in/target", "loss"},
    {"/nodes/loss/use", "loss"},
    {"/nodes/loss/with/class_weights", "loss"},
    {"/nodes/loss/with/ignore_index", "loss"},
    {"/nodes/loss/with/label_smoothing", "loss"},
    {"/nodes/net/in/image", "model"},
    {"/nodes/net/use", "model"},
    {"/nodes/net/with/classes", "model"},
    {"/nodes/net/with/dropout", "model"},
    {"/nodes/net/with/width", "model"},
    {"/nodes/opt/groups/0/match", "optimizer"},
    {"/nodes/opt/groups/0/with/weight_decay", "weight_decay"},
    {"/nodes/opt/of", "optimizer"},
    {"/nodes/opt/use", "optimizer"},
    {"/nodes/opt/with/beta1", "beta1"},
    {"/nodes/opt/with/beta2", "beta2"},
    {"/nodes/opt/with/eps", "eps"},
    {"/nodes/opt/with/lr", "lr"},
    {"/nodes/opt/with/weight_decay", "weight_decay"},
    {"/nodes/prec/use", "precision"},
    {"/nodes/prec/with", "precision"},
    {"/nodes/sched/field", "schedule"},
    {"/nodes/sched/of", "schedule"},
    {"/nodes/sched/use", "schedule"},
    {"/nodes/sched/with/floor", "schedule"},
    {"/nodes/sched/with/until", "schedule"},
    {"/nodes/sched/with/warmup", "schedule"},
    {"/nodes/script/of", ""},
    {"/nodes/script/use", ""},
    {"/nodes/script/with/dynamic/image", ""},
    {"/nodes/script/with/verify/atol", ""},
    {"/nodes/script/with/verify/batch", ""},
    {"/nodes/script/with/verify/rtol", ""},
    {"/nodes/shift/in", "data"},
    {"/nodes/shift/use", "data"},
    {"/nodes/shift/with/field", "data"},
    {"/nodes/shift/with/pixels", "data"},
    {"/nodes/test/in", ""},
    {"/nodes/test/use", ""},
    {"/nodes/test/with/bad_sample", ""},
    {"/nodes/test/with/batch", ""},
    {"/nodes/test/with/buckets", ""},
    {"/nodes/test/with/last", ""},
    {"/nodes/test/with/lists", ""},
    {"/nodes/test/with/memory", ""},
    {"/nodes/test/with/pad", ""},
    {"/nodes/test/with/prefetch", ""},
    {"/nodes/test/with/sample_timeout", ""},
    {"/nodes/test/with/sampler", ""},
    {"/nodes/test/with/shuffle", ""},
    {"/nodes/test/with/workers", ""},
    {"/nodes/test_set/use", ""},
    {"/nodes/test_set/with/split", ""},
    {"/nodes/test_x/in", ""},
    {"/nodes/test_x/use", ""},
    {"/nodes/test_x/with/field", ""},
    {"/nodes/test_x/with/max", ""},
    {"/nodes/train/in", "data"},
    {"/nodes/train/use", "data"},
    {"/nodes/train/with/bad_sample", "data"},
    {"/nodes/train/with/batch", "batch"},
    {"/nodes/train/with/buckets", "data"},
    {"/nodes/train/with/last", "data"},
    {"/nodes/train/with/lists", "data"},
    {"/nodes/train/with/memory", ""},
    {"/nodes/train/with/pad", "data"},
    {"/nodes/train/with/prefetch", ""},
    {"/nodes/train/with/sample_timeout", ""},
    {"/nodes/train/with/sampler", "data"},
    {"/nodes/train/with/shuffle", "data"},
    {"/nodes/train/with/workers", ""},
    {"/nodes/train_set/use", "data"},
    {"/nodes/train_set/with/split", "data"},
    {"/nodes/train_x/in", "data"},
    {"/nodes/train_x/use", "data"},
    {"/nodes/train_x/with/field", "data"},
    {"/nodes/train_x/with/max", "data"},
    {"/nodes/val/in", ""},
    {"/nodes/val/use", ""},
    {"/nodes/val/with/bad_sample", ""},
    {"/nodes/val/with/batch", ""},
    {"/nodes/val/with/buckets", ""},
    {"/nodes/val/with/last", ""},
    {"/nodes/val/with/lists", ""},
    {"/nodes/val/with/memory", ""},
    {"/nodes/val/with/pad", ""},
    {"/nodes/val/with/prefetch", ""},
    {"/nodes/val/with/sample_timeout", ""},
    {"/nodes/val/with/sampler", ""},
    {"/nodes/val/with/shuffle", ""},
    {"/nodes/val/with/workers", ""},
    {"/nodes/val_set/use", ""},
    {"/nodes/val_set/with/split", ""},
    {"/nodes/val_x/in", ""},
    {"/nodes/val_x/use", ""},
    {"/nodes/val_x/with/field", ""},
    {"/nodes/val_x/with/max", ""},
    {"/observe/0/use", ""},
    {"/observe/0/with/progress", ""},
    {"/run/autotune", "autotune"},
    {"/run/determinism", "determinism"},
    {"/run/device", ""},  // from "auto"
    {"/run/dir", ""},
    {"/run/distributed", "world"},
    {"/run/float32", "float32"},
    {"/run/seed", "seed"},
    {"/run/threads", "threads"},
    {"/stop/0/use", ""},
    {"/stop/0/with/metric", ""},
    {"/stop/0/with/patience", ""},
    {"/test/data", ""},
    {"/test/metrics", ""},
    {"/validate/data", ""},
    {"/validate/every", ""},
    {"/validate/metrics", ""},
};

// Likewise for what the demo does not say.
const std::map<std::string, std::string> kLanguage{
    {"/fit/limit", "data"},
    {"/fit/overfit", "data"},
    {"/fit/phases/0/loss", "loss"},
    {"/fit/phases/0/name", "loss"},
    {"/fit/phases/0/optimizers", "optimizer"},
    {"/fit/phases/0/repeat", "loss"},
    {"/fit/phases/1/data", "data"},
    {"/fit/phases/1/loss/fool", "loss"},
    {"/nodes/floats/call", "data"},
    {"/nodes/floats/in", "data"},
    {"/nodes/glasses/frozen", "model"},
    {"/nodes/glasses/load", ""},
    {"/nodes/glasses/use", "model"},
    {"/nodes/mixed/in", "data"},
    {"/nodes/new_floats/call", ""},
    {"/nodes/new_floats/in", ""},
    {"/nodes/second/call", "model"},
    {"/nodes/spare/in", "data"},
    {"/nodes/spare/with/max", "data"},
    {"/nodes/verdict/call", "model"},
    {"/nodes/verdict/in/image", "model"},
    {"/nodes/view/call", ""},
    {"/nodes/view/in/image", ""},
    {"/predict/data", ""},
    {"/predict/outputs/0/as", ""},
    {"/predict/outputs/0/from", ""},
    {"/predict/outputs/0/name", ""},
    {"/test/limit", ""},
    {"/validate/again/data", ""},
    {"/validate/again/every", ""},
    {"/validate/clean/limit", ""},
    {"/validate/clean/metrics", ""},
};

TEST(ComparePipelines, nothing_changed_is_no_change) {
  const Graph graph = graph_of(demo_text());
  EXPECT_TRUE(compare_pipelines(graph.resolved, graph.resolved, graph).empty());
  EXPECT_NO_THROW(require_accepted({}, {}));
  EXPECT_EQ(render({}), "");
}

TEST(ComparePipelines, every_value_of_the_demo_has_its_outcome) {
  const Graph graph = graph_of(demo_text());
  std::size_t leaves = 0;
  each_leaf(graph.resolved, "", [&](const std::string& pointer) {
    ++leaves;
    const auto expected = kDemo.find(pointer);
    ASSERT_NE(expected, kDemo.end()) << "no outcome is expected for " << pointer;
    Json after = graph.resolved;
    *find_value(after, pointer) = changed(*find_value(graph.resolved, pointer));
    for (const auto& [was, is] : {Sides(&graph.resolved, &after), Sides(&after, &graph.resolved)}) {
      const std::vector<Change> changes = compare_pipelines(*was, *is, graph);
      ASSERT_FALSE(changes.empty()) << pointer << " is passed over in silence";
      EXPECT_EQ(changes[0].accept, expected->second) << pointer;
      EXPECT_TRUE(pointer.starts_with(changes[0].pointer) || changes[0].pointer.starts_with(pointer)) << pointer;
    }
  });
  EXPECT_EQ(leaves, kDemo.size());
}

TEST(ComparePipelines, calls_phases_and_named_validations_have_their_outcome) {
  const Graph graph = graph_of(language_text());
  for (const auto& [pointer, word] : kLanguage) {
    Json after = graph.resolved;
    Json* const value = find_value(after, pointer);
    ASSERT_NE(value, nullptr) << pointer;
    *value = changed(*value);
    for (const auto& [was, is] : {Sides(&graph.resolved, &after), Sides(&after, &graph.resolved)}) {
      const std::vector<Change> changes = compare_pipelines(*was, *is, graph);
      ASSERT_FALSE(changes.empty()) << pointer << " is passed over in silence";
      EXPECT_EQ(changes[0].accept, word) << pointer;
    }
  }
}

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

TEST(ComparePipelines, a_map_in_place_of_a_validation_is_applied_and_phases_in_place_of_a_loss_are_not) {
  const Graph graph = graph_of(demo_text());
  Json after = graph.resolved;
  after["validate"] = {{"clean", graph.resolved.at("validate")}};
  for (const std::string& fact : facts(compare_pipelines(graph.resolved, after, graph))) {
    EXPECT_TRUE(fact.starts_with("/validate/") && fact.ends_with(": applied")) << fact;
  }
  after = graph.resolved;
  after["fit"].erase("loss");
  after["fit"]["phases"] = {{{"name", "only"}, {"loss", "loss"}, {"optimizers", {"opt"}}, {"repeat", 1}}};
  EXPECT_EQ(facts(compare_pipelines(graph.resolved, after, graph)), (Facts{"/fit/loss: loss", "/fit/phases: loss"}));
}

TEST(ComparePipelines, every_value_that_comes_or_goes_has_an_outcome) {
  const Graph graph = graph_of(demo_text());
  each_leaf(graph.resolved, "", [&](const std::string& pointer) {
    Json without = graph.resolved;
    Json* const parent = find_value(without, parent_pointer(pointer));
    parent->erase(last_segment(pointer));
    for (const auto& [was, is] : {Sides(&graph.resolved, &without), Sides(&without, &graph.resolved)}) {
      const std::vector<Change> changes = compare_pipelines(*was, *is, graph);
      ASSERT_EQ(changes.empty(), false) << pointer;
      for (const Change& change : changes) {
        EXPECT_EQ(change.effect == Effect::kApplied, change.accept.empty()) << pointer;
        EXPECT_FALSE(change.consequence.empty()) << pointer;
      }
    }
  });
}

TEST(ComparePipelines, tells_place_and_both_values) {
  const Graph graph = graph_of(demo_text());
  Json after = graph.resolved;
  after["nodes"]["opt"]["with"]["lr"] = 0.001;
  after["fit"].erase("clip");
  const std::vector<Change> changes = compare_pipelines(graph.resolved, after, graph);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].pointer, "/fit/clip");
  EXPECT_EQ(changes[0].before->dump(), R"({"norm":1.0})");
  EXPECT_FALSE(changes[0].after);
  EXPECT_EQ(changes[1].pointer, "/nodes/opt/with/lr");
  EXPECT_EQ(*changes[1].before, 0.002);
  EXPECT_EQ(*changes[1].after, 0.001);
}

TEST(ComparePipelines, lists_of_one_length_differ_by_element_others_as_a_whole) {
  const Graph graph = graph_of(demo_text());
  Json after = graph.resolved;
  after["nodes"]["script"]["with"]["verify"]["batch"] = {1, 4, 17};
  EXPECT_EQ(facts(compare_pipelines(graph.resolved, after, graph)),
            Facts{"/nodes/script/with/verify/batch/1: applied"});
  after["nodes"]["script"]["with"]["verify"]["batch"] = {1, 4};
  EXPECT_EQ(facts(compare_pipelines(graph.resolved, after, graph)), Facts{"/nodes/script/with/verify/batch: applied"});
}

TEST(ComparePipelines, a_path_that_leads_from_the_pipeline_where_it_led_is_the_same) {
  const Graph graph = graph_of(demo_text());
  Json before = graph.resolved;
  Json after = graph.resolved;
  before["nodes"]["shift"]["with"]["words"] = "/old/project/data/words.txt";
  after["nodes"]["shift"]["with"]["words"] = "/new/place/data/words.txt";
  const Facts other{"/nodes/shift/with/words: data"};
  EXPECT_TRUE(compare_pipelines(before, after, graph, {"/old/project", "/new/place"}).empty());
  EXPECT_EQ(facts(compare_pipelines(before, after, graph)), other);
  EXPECT_EQ(facts(compare_pipelines(before, after, graph, {"/old/project", "/new"})), other);
  after["nodes"]["shift"]["with"]["words"] = "/new/place/data/others.txt";
  EXPECT_EQ(facts(compare_pipelines(before, after, graph, {"/old/project", "/new/place"})), other);
}

TEST(ComparePipelines, numbers_of_equal_value_are_equal) {
  const Graph graph = graph_of(demo_text());
  Json after = graph.resolved;
  after["fit"]["clip"]["norm"] = 1;
  EXPECT_TRUE(compare_pipelines(graph.resolved, after, graph).empty());
}

TEST(ComparePipelines, epochs_need_no_word_where_no_schedule_counts_until_the_end) {
  const std::string plain = plain_schedule_text();
  const auto consequence = [&](const std::string& before, const std::string& after) {
    const Graph was = graph_of(before);
    const Graph is = graph_of(after);
    const std::vector<Change> changes = compare_pipelines(was.resolved, is.resolved, is);
    EXPECT_EQ(facts(changes), Facts{"/fit/epochs: applied"});
    return changes.empty() ? "" : changes[0].consequence;
  };
  const std::string longer = replaced(plain, R"("epochs": 25)", R"("epochs": 40)");
  EXPECT_EQ(consequence(plain, longer), "training goes on for longer; its steps are unchanged");
  EXPECT_EQ(consequence(longer, plain), "training ends earlier; its steps are unchanged");
}

TEST(ComparePipelines, epochs_need_the_word_of_the_schedule_that_counts_until_the_end) {
  const std::string longer = replaced(demo_text(), R"("epochs": 25)", R"("epochs": 40)");
  EXPECT_EQ(facts(demo_text(), longer), Facts{"/fit/epochs: schedule"});
  EXPECT_EQ(facts(longer, demo_text()), Facts{"/fit/epochs: schedule"});
  const Graph graph = graph_of(longer);
  const std::vector<Change> changes = compare_pipelines(graph_of(demo_text()).resolved, graph.resolved, graph);
  EXPECT_NE(changes.at(0).consequence.find("sched counts until the end"), std::string::npos);
}

TEST(ComparePipelines, a_schedule_that_reads_a_metric_makes_validation_part_of_training) {
  const std::string before = plateau_text();
  const auto facts_of = [&](const std::string& from, const std::string& to) {
    return facts(before, replaced(before, from, to));
  };
  const std::string every = R"("metrics": ["acc"], "every": "1 epoch")";
  EXPECT_EQ(facts_of(every, R"("metrics": ["acc"], "every": "2 epochs")"), Facts{"/validate/every: schedule"});
  EXPECT_EQ(facts_of(every, every + R"(, "allow_random": true)"), Facts{"/validate/allow_random: applied"});
  EXPECT_EQ(facts_of(R"({ "split": "val" })", R"({ "split": "test" })"), Facts{"/nodes/val_set/with/split: schedule"});
  EXPECT_EQ(facts_of(R"({ "split": "test" })", R"({ "split": "all" })"), Facts{"/nodes/test_set/with/split: applied"});
  EXPECT_EQ(facts_of(R"("in": "val_x",   "with": { "batch": 256 })", R"("in": "val_x",   "with": { "batch": 8 })"),
            Facts{"/nodes/val/with/batch: schedule"});
  EXPECT_EQ(facts_of(R"("in": "val_x",   "with": { "batch": 256 })",
                     R"("in": "val_x",   "with": { "batch": 256, "workers": 3 })"),
            Facts{"/nodes/val/with/workers: applied"});
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

TEST(ComparePipelines, a_device_or_thread_count_that_was_chosen_is_judged_by_what_is_in_force) {
  const auto with = [](const std::string& device, const std::string& threads) {
    return replaced(replaced(demo_text(), R"("device": "auto")", fmt::format(R"("device": "{}")", device)),
                    R"("threads": 1)", fmt::format(R"("threads": {})", threads));
  };
  EXPECT_EQ(facts(with("auto", R"("auto")"), with("cpu", "2")),
            (Facts{"/run/device: applied", "/run/threads: applied"}));
  EXPECT_EQ(facts(with("cpu", "1"), with("cuda", "2")), (Facts{"/run/device: device", "/run/threads: threads"}));
}

TEST(ComparePipelines, a_place_that_no_rule_knows_needs_a_word) {
  const Graph graph = graph_of(demo_text());
  for (const char* const pointer : {"/future", "/fit/future", "/run/future"}) {
    Json after = graph.resolved;
    (*find_value(after, parent_pointer(pointer)))[last_segment(pointer)] = 1;
    EXPECT_EQ(facts(compare_pipelines(graph.resolved, after, graph)), Facts{std::string(pointer) + ": other"});
    EXPECT_EQ(facts(compare_pipelines(after, graph.resolved, graph)), Facts{std::string(pointer) + ": other"});
  }
  Json after = graph.resolved;
  after["nodes"]["net"]["future"] = true;
  after["nodes"]["opt"]["future"] = true;
  EXPECT_EQ(facts(compare_pipelines(graph.resolved, after, graph)),
            (Facts{"/nodes/net/future: model", "/nodes/opt/future: optimizer, anew opt"}));
  Json strange = graph.resolved;
  strange["nodes"]["odd"] = {{"use", "oracle:delphi"}};
  EXPECT_EQ(facts(compare_pipelines(graph.resolved, strange, graph)), Facts{"/nodes/odd: other"});
  EXPECT_EQ(facts(compare_pipelines(Json(3), graph.resolved, graph)), Facts{": other"});
}

Json provenance() {
  return {{"device", "cpu"},
          {"cpu_capability", "AVX2"},
          {"threads", 1},
          {"deterministic_algorithms", true},
          {"onednn", true},
          {"float32", "ieee"},
          {"libtorch", "2.11.0"},
          {"data",
           {{"train_set", {{"size", 10}, {"fingerprint", "a"}}},
            {"val_set", {{"size", 10}, {"fingerprint", "b"}}},
            {"test_set", {{"size", 10}, {"fingerprint", "c"}}}}}};
}

TEST(CompareProvenance, every_fact_has_its_outcome) {
  const Graph graph = graph_of(demo_text());
  const std::map<std::string, std::string> expected{
      {"/device", "device"},
      {"/cpu_capability", "isa"},
      {"/threads", "threads"},
      {"/deterministic_algorithms", "determinism"},
      {"/onednn", "onednn"},
      {"/float32", "float32"},
      {"/libtorch", "libtorch"},
      {"/data/train_set/size", "data"},
      {"/data/train_set/fingerprint", "data"},
      {"/data/val_set/size", ""},
      {"/data/val_set/fingerprint", ""},
      {"/data/test_set/size", ""},
      {"/data/test_set/fingerprint", ""},
  };
  EXPECT_TRUE(compare_provenance(provenance(), provenance(), graph).empty());
  std::size_t leaves = 0;
  each_leaf(provenance(), "", [&](const std::string& pointer) {
    ++leaves;
    Json after = provenance();
    *find_value(after, pointer) = changed(*find_value(after, pointer));
    const std::string& word = expected.at(pointer);
    EXPECT_EQ(facts(compare_provenance(provenance(), after, graph)),
              Facts{fmt::format("/provenance{}: {}", pointer, word.empty() ? "applied" : word)});
    Json without = provenance();
    find_value(without, parent_pointer(pointer))->erase(last_segment(pointer));
    EXPECT_EQ(facts(compare_provenance(provenance(), without, graph)),
              Facts{fmt::format("/provenance{}: {}", pointer, word.empty() ? "applied" : word)});
  });
  EXPECT_EQ(leaves, expected.size());
}

TEST(CompareProvenance, another_gpu_of_the_kind_is_applied_and_another_kind_is_not) {
  const Graph graph = graph_of(demo_text());
  const auto word = [&](const char* before, const char* after) {
    const auto found = compare_provenance({{"device", before}}, {{"device", after}}, graph);
    return found.at(0).accept;
  };
  EXPECT_EQ(word("cuda:0", "cuda:1"), "");
  EXPECT_EQ(word("cuda:0", "cpu"), "device");
  EXPECT_EQ(word("cpu", "cuda:0"), "device");
}

TEST(CompareProvenance, a_fact_of_a_later_version_and_validation_that_a_schedule_reads_need_a_word) {
  const Graph graph = graph_of(demo_text());
  EXPECT_EQ(facts(compare_provenance({{"later", 1}}, Json::object(), graph)), Facts{"/provenance/later: other"});
  Json after = provenance();
  after["data"]["val_set"]["fingerprint"] = "x";
  EXPECT_EQ(facts(compare_provenance(provenance(), after, graph_of(plateau_text()))),
            Facts{"/provenance/data/val_set/fingerprint: schedule"});
}

TEST(RequireAccepted, lists_every_refused_change_and_both_ways_out) {
  const Graph graph = graph_of(demo_text());
  Json after = graph.resolved;
  after["nodes"]["opt"]["with"]["lr"] = 0.001;
  after["run"]["seed"] = 8;
  after["validate"]["every"] = "2 epochs";
  const std::vector<Change> changes = compare_pipelines(graph.resolved, after, graph);
  const std::string message = message_of<Error>([&] { require_accepted(changes, {}); });
  EXPECT_EQ(message,
            "2 values that training depends on changed since the checkpoint, so that the run is not continued:\n"
            "  nodes.opt.with.lr  0.002 → 0.001  needs --accept lr: counts from here on; equal bytes are no longer "
            "promised\n"
            "  run.seed           7 → 8          needs --accept seed: all randomness is another from here on; equal "
            "bytes are no longer promised\n"
            "to continue it all the same add --accept lr --accept seed; to start a new run instead: --resume never");
  const std::string less = message_of<Error>([&] { require_accepted(changes, {"seed"}); });
  EXPECT_TRUE(less.starts_with("a value that training depends on")) << less;
  EXPECT_EQ(less.find("run.seed"), std::string::npos);
  EXPECT_NO_THROW(require_accepted(changes, {"seed", "lr"}));
  try {
    require_accepted(changes, {"clip"});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
  }
}

TEST(Render, aligns_its_columns_and_shortens_long_values) {
  std::vector<Change> changes(3);
  changes[0].pointer = "/nodes/opt";
  changes[0].effect = Effect::kNeedsAccept;
  changes[0].accept = "model";
  changes[0].consequence = "it is dropped";
  changes[1].pointer = "/a";
  changes[1].before = std::string(50, 'x');
  changes[1].consequence = "x";
  changes[2].pointer = "/b";
  changes[2].after = "ä";
  changes[2].consequence = "y";
  EXPECT_EQ(render(changes), fmt::format("  nodes.opt  {}  needs --accept model: it is dropped\n"
                                         "  a          \"{}… → (absent)  applied: x\n"
                                         "  b          (absent) → \"ä\"{}  applied: y\n",
                                         std::string(43, ' '), std::string(30, 'x'), std::string(29, ' ')));
}

TEST(AcceptWords, are_a_closed_list_with_the_parameters_of_the_optimizers) {
  const Graph graph = graph_of(demo_text());
  EXPECT_TRUE(std::ranges::is_sorted(accept_words()));
  const std::vector<std::string> words = accept_words(graph);
  EXPECT_TRUE(std::ranges::is_sorted(words));
  EXPECT_EQ(words.size(), accept_words().size() + 5);
  EXPECT_NO_THROW(check_accept_words({"lr", "seed", "weight_decay"}, graph));
  const std::string message = message_of<Error>([&] { check_accept_words({"sed", "momentum"}, graph); });
  EXPECT_NE(message.find("does not know \"sed\"; did you mean \"seed\"?"), std::string::npos) << message;
  EXPECT_NE(message.find("does not know \"momentum\""), std::string::npos) << message;
  EXPECT_NE(message.find("weight_decay"), std::string::npos) << message;
}

/// Whatever a change needs can be said on the command line.
TEST(AcceptWords, hold_every_word_that_a_change_needs) {
  const Graph graph = graph_of(demo_text());
  const std::vector<std::string> words = accept_words(graph);
  for (const auto* const table : {&kDemo, &kLanguage}) {
    for (const auto& [pointer, word] : *table) {
      EXPECT_TRUE(word.empty() || std::ranges::find(words, word) != words.end()) << word;
    }
  }
  for (const char* const word : {"isa", "onednn", "libtorch", "device", "other", "metric"}) {
    EXPECT_TRUE(std::ranges::find(words, word) != words.end()) << word;
  }
}

}  // namespace
}  // namespace tenon::core
