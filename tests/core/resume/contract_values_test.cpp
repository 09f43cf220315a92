// The resume contract, value by value: every place of a pipeline, and the word that a change of it needs.
#include <core/resume/contract.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <core/json/pointer.hpp>
#include <core/resume/contract_fixture.hpp>

namespace tenon::core {
namespace {

using testing::changed;
using testing::demo_text;
using testing::each_leaf;
using testing::graph_of;
using testing::language_text;

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
