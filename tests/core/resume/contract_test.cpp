// The resume contract: what counts as a change of a pipeline, and what follows from where it stands.
#include <core/resume/contract.hpp>

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/json/pointer.hpp>
#include <core/resume/contract_fixture.hpp>

namespace tenon::core {
namespace {

using testing::demo_text;
using testing::facts;
using testing::Facts;
using testing::graph_of;
using testing::plateau_text;
using testing::replaced;
using testing::with_schedule;

TEST(ComparePipelines, nothing_changed_is_no_change) {
  const Graph graph = graph_of(demo_text());
  EXPECT_TRUE(compare_pipelines(graph.resolved, graph.resolved, graph).empty());
  EXPECT_NO_THROW(require_accepted({}, {}));
  EXPECT_EQ(render({}), "");
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
  const std::string plain = with_schedule(R"({ "use": "schedule:constant", "of": "opt" })");
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
  EXPECT_EQ(facts_of(every, every + R"(, "allow_sampled": true)"), Facts{"/validate/allow_sampled: applied"});
  EXPECT_EQ(facts_of(R"({ "split": "val" })", R"({ "split": "test" })"), Facts{"/nodes/val_set/with/split: schedule"});
  EXPECT_EQ(facts_of(R"({ "split": "test" })", R"({ "split": "all" })"), Facts{"/nodes/test_set/with/split: applied"});
  EXPECT_EQ(facts_of(R"("in": "val_x",   "with": { "batch": 256 })", R"("in": "val_x",   "with": { "batch": 8 })"),
            Facts{"/nodes/val/with/batch: schedule"});
  EXPECT_EQ(facts_of(R"("in": "val_x",   "with": { "batch": 256 })",
                     R"("in": "val_x",   "with": { "batch": 256, "workers": 3 })"),
            Facts{"/nodes/val/with/workers: applied"});
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

}  // namespace
}  // namespace tenon::core
