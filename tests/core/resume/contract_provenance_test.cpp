// The resume contract of what a run met: device, libraries, data.
#include <core/resume/contract.hpp>

#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/json/pointer.hpp>
#include <core/resume/contract_fixture.hpp>

namespace tenon::core {
namespace {

using testing::changed;
using testing::demo_text;
using testing::each_leaf;
using testing::facts;
using testing::Facts;
using testing::graph_of;
using testing::plateau_text;

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

}  // namespace
}  // namespace tenon::core
