// The demo's graph, its resolved form, errors of a running engine, and large pipelines.
#include <core/graph/graph.hpp>

#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/graph/fixture.hpp>
#include <core/json/pointer.hpp>
#include <core/text/render.hpp>
#include <tenon/error.hpp>

namespace tenon::core::testing {
namespace {

TEST(DemoGraph, HoldsWhatThePipelineSays) {
  const Built built = build(demo_text());
  ASSERT_TRUE(built.graph) << built.text();
  EXPECT_TRUE(built.diagnostics.empty()) << built.text();
  const Json facts = graph_json(*built.graph);
  const auto fact = [&](const char* pointer) {
    const Json* const value = find_value(facts, pointer);
    return value == nullptr ? std::string("absent") : value->dump();
  };
  EXPECT_EQ(fact("/fit/stream"), R"(["train_set","shift","train_x","train"])");
  EXPECT_EQ(fact("/fit/step"), R"(["net","loss"])");
  EXPECT_EQ(fact("/validate/stream"), R"(["val_set","val_x","val"])");
  EXPECT_EQ(fact("/validate/step"), R"(["net","acc"])");
  EXPECT_EQ(fact("/validate/every"), R"(["1 epoch"])");
  EXPECT_EQ(fact("/test/stream"), R"(["test_set","test_x","test"])");
  EXPECT_EQ(fact("/nodes/train/out"), R"(["image float32[N, 1, 8, 8]","label int64[N]"])");
  EXPECT_EQ(fact("/nodes/net/out"), R"(["logits float32[N, 10]"])");
  EXPECT_EQ(fact("/nodes/opt/with/lr"), "0.002");
  EXPECT_EQ(fact("/nodes/opt/groups"), R"([{"match":"*.bias","with":{"weight_decay":0}}])");
  EXPECT_EQ(fact("/nodes/sched/of"), R"(["opt"])");
  EXPECT_EQ(fact("/nodes/sched/field"), R"("lr")");
  EXPECT_EQ(fact("/nodes/script/with/verify/rtol"), "0.0001");
  EXPECT_EQ(fact("/fit/precision"), R"("prec")");
  EXPECT_EQ(fact("/fit/epochs"), R"("25 epochs")");
  EXPECT_EQ(fact("/fit/clip_norm"), "1.0");
  EXPECT_EQ(fact("/checkpoint/best/key"), R"("validate.acc")");
  EXPECT_EQ(fact("/checkpoint/best/direction"), R"("max")");
  EXPECT_EQ(fact("/stop/0/with"), R"({"metric":"validate.acc","patience":8})");
  EXPECT_EQ(fact("/stop/0/direction"), R"("max")");
  EXPECT_EQ(fact("/observe/0/use"), R"("observer:console")");
  EXPECT_EQ(fact("/export"), R"(["script"])");
  EXPECT_EQ(fact("/run/threads"), "1");
  EXPECT_EQ(fact("/run/seed"), "7");
}

TEST(DemoGraph, PutsEachNodeBehindWhatItRefersTo) {
  const Built built = build(demo_text());
  ASSERT_TRUE(built.graph);
  const Graph& graph = *built.graph;
  ASSERT_EQ(graph.nodes.size(), 17U);
  const auto rank = [&](const std::string& name) { return graph.find(name) - graph.nodes.data(); };
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) EXPECT_LT(rank(input), rank(node.name));
    for (const std::string& target : node.of) EXPECT_LT(rank(target), rank(node.name));
    for (const Wire& wire : node.wires) {
      if (wire.from_batch()) continue;
      EXPECT_LT(rank(wire.source), rank(node.name));
    }
  }
  EXPECT_EQ(graph.find("nobody"), nullptr);
  EXPECT_THROW((void)graph.at("nobody"), Error);
}

TEST(ResolvedPipeline, IsAPipelineThatResolvesToItself) {
  const Built built = build(demo_text());
  ASSERT_TRUE(built.graph) << built.text();
  const std::string text = built.graph->resolved.dump(2);
  const Built again = build(text);
  ASSERT_TRUE(again.graph) << again.text();
  EXPECT_TRUE(again.diagnostics.empty()) << again.text();
  EXPECT_EQ(again.graph->resolved.dump(2), text);
}

TEST(ResolvedPipeline, DoesNotDependOnTheOrderInTheFile) {
  const std::string loss =
      R"(    "loss":  { "use": "loss:cross_entropy", "in": { "logits": "net.logits", "target": "batch.label" } },)"
      "\n";
  const std::string moved = replaced(replaced(demo_text(), loss, ""), "  \"nodes\": {\n", "  \"nodes\": {\n" + loss);
  const Built first = build(demo_text());
  const Built second = build(moved);
  ASSERT_TRUE(first.graph && second.graph) << second.text();
  EXPECT_EQ(graph_json(*first.graph).dump(2), graph_json(*second.graph).dump(2));
}

TEST(ResolvedPipeline, KeepsOriginsOfDefaultsForExplain) {
  const Built built = build(demo_text());
  EXPECT_EQ(built.resolved.origin("/nodes/opt/with/beta1").describe(), "default of optimizer:adamw");
  EXPECT_NE(built.resolved.origin("/nodes/opt/with/lr").describe().find("vars.lr"), std::string::npos);
}

TEST(BuildGraph, LeavesItsInputAlone) {
  Diagnostics diagnostics;
  ResolveRequest request;
  request.pipeline = "pipe.json";
  request.text = demo_text();
  const Resolved merged = resolve(request, diagnostics);
  const std::string before = merged.value().dump();
  (void)build_graph(merged, catalogue());
  EXPECT_EQ(merged.value().dump(), before);
}

TEST(BuildGraph, TakesWhateverCanBeRead) {
  for (
      const char* const text :
      {"", "[]", "{}", "3", R"({"nodes": 1})", R"({"nodes": {"a": 1, "b": {"use": 2}}, "fit": []})",
       R"({"format": 1, "name": "x", "nodes": {}, "fit": {"data": "a", "loss": 3, "epochs": 1}})",
       R"({"format": 1, "name": "x", "nodes": {"a": {"use": "model:cnn", "in": {"image": 3}, "with": []}}, "fit": {}})",
       R"({"nodes": {"a": {"use": ":", "in": []}, "b": {"use": "model:", "of": [1]}, "c": {"use": ":cnn"}}})"}) {
    const Built built = build(text);
    EXPECT_FALSE(built.graph) << text;
    EXPECT_TRUE(built.diagnostics.has_errors()) << text;
  }
}

void collect_pointers(const Json& value, const std::string& pointer, std::vector<std::string>& pointers) {
  pointers.push_back(pointer);
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) collect_pointers(member, child_pointer(pointer, key), pointers);
}

TEST(BuildGraph, TakesAnyValueInAnyPlace) {
  const Json demo = Json::parse(demo_text());
  std::vector<std::string> pointers;
  collect_pointers(demo, "", pointers);
  ASSERT_GT(pointers.size(), 130U);
  for (const std::string& pointer : pointers) {
    for (const char* const value : {"null", "true", "-3", "1e300", "\"\"", "\"net\"", "\"net.logits\"", "[]", "{}",
                                    "[[\"net\"]]", "{\"net\": {\"net\": \"net\"}}"}) {
      Json changed = demo;
      *find_value(changed, pointer) = Json::parse(value);
      const Built built = build(changed.dump());
      EXPECT_NE(built.graph.has_value(), built.diagnostics.has_errors()) << pointer << " = " << value;
    }
  }
}

TEST(BuildGraph, SaysEachOfTwoMistakesInOneGo) {
  const std::string text = replaced(replaced(demo_text(), "\"optimizer:adamw\"", "\"optimizer:adamv\""),
                                    "\"data\": \"val\"", "\"data\": \"vall\"");
  const Built built = build(text);
  EXPECT_EQ(built.diagnostics.errors(), 2U) << built.text();
}

TEST(ShapeMismatch, NamesBothNodesAndBothShapes) {
  const std::string text =
      replaced(demo_text(), R"("loss":  { "use": "loss:cross_entropy", "in": { "logits": "net.logits", )",
               R"("loss":  { "use": "loss:cross_entropy", "in": { "logits": "batch.label", )");
  const Built built = build(text);
  ASSERT_EQ(built.diagnostics.errors(), 1U + 1U) << built.text();
  EXPECT_NE(built.text().find(R"(loss "loss" port "logits" wants float[N, C, *], but "batch.label" gives int64[N])"),
            std::string::npos)
      << built.text();
}

class Diagnose : public ::testing::Test {
 protected:
  Built built_ = build(demo_text());
  const Graph& graph_ = built_.graph.value();
};

TEST_F(Diagnose, PointsAtTheParameterThatAComponentBlames) {
  const Diagnostic found =
      diagnose(built_.resolved, graph_.at("shift"), Error(ErrorCode::kConfig, "is too far", "/pixels"));
  EXPECT_EQ(found.message, "transform \"shift\" (transform:random_shift): is too far");
  EXPECT_EQ(found.span.text(), "1");
  EXPECT_EQ(found.pointer, "/nodes/shift/with/pixels");
  EXPECT_EQ(found.span.position().line, 12U);
}

TEST_F(Diagnose, NamesAParameterThatWasNotWritten) {
  const Diagnostic found = diagnose(built_.resolved, graph_.at("net"), Error(ErrorCode::kConfig, "too wide", "/width"));
  EXPECT_EQ(found.span.position().line, 20U);
  EXPECT_NE(render_text(found).find("about the parameter width"), std::string::npos) << render_text(found);
}

TEST_F(Diagnose, PointsAtTheComponentWithoutAParameter) {
  const Diagnostic found = diagnose(built_.resolved, graph_.at("net"), Error(ErrorCode::kPlugin, "broke"));
  EXPECT_EQ(found.span.text(), "\"model:cnn\"");
  EXPECT_EQ(found.error_code, ErrorCode::kPlugin);
  EXPECT_NE(render_text(found).find("org.tenon.test.demo"), std::string::npos) << render_text(found);
}

TEST_F(Diagnose, KnowsStopAndOtherPlaces) {
  const Diagnostic stop = diagnose(built_.resolved, graph_.stop.at(0), Error(ErrorCode::kConfig, "never", "/patience"));
  EXPECT_EQ(stop.message, "observer:patience: never");
  EXPECT_EQ(stop.span.text(), "8");
  const Diagnostic device = diagnose(built_.resolved, "/run/device", Error(ErrorCode::kConfig, "there is no GPU"));
  EXPECT_EQ(device.span.text(), "\"auto\"");
  EXPECT_EQ(device.message, "there is no GPU");
}

/// `count` nodes: chains of transforms, models that read each other, losses, metrics.
std::string large_pipeline(int count) {
  std::string nodes = R"("data": { "use": "dataset:digits" }, "f0": { "use": "transform:to_float", "in": "data" },)";
  std::string terms;
  std::string models = "\"m0\"";
  std::string metrics;
  const int each = count / 4;
  for (int i = 1; i < each; ++i) {
    nodes += fmt::format(R"("f{}": {{ "use": "transform:random_shift", "in": "f{}" }},)", i, i - 1);
  }
  nodes += fmt::format(R"("train": {{ "use": "loader:threads", "in": "f{}", "with": {{ "batch": 8 }} }},)", each - 1);
  for (int i = 0; i < each; ++i) {
    const std::string source = i % 2 == 0 ? "batch.image" : fmt::format("m{}.logits", i - 1);
    nodes += fmt::format(R"("m{}": {{ "use": "model:mlp", "in": {{ "image": "{}" }}, "with": {{ "classes": 10 }} }},)",
                         i, source);
    nodes += fmt::format(
        R"("l{0}": {{ "use": "loss:cross_entropy", "in": {{ "logits": "m{0}.logits", "target": "batch.label" }} }},)",
        i);
    nodes += fmt::format(
        R"("a{0}": {{ "use": "metric:accuracy", "in": {{ "logits": "m{0}.logits", "target": "batch.label" }} }},)", i);
    terms += fmt::format(R"({}"l{}": 1.0)", i == 0 ? "" : ", ", i);
    metrics += fmt::format(R"({}"a{}")", i == 0 ? "" : ", ", i);
    if (i > 0) models += fmt::format(", \"m{}\"", i);
  }
  return fmt::format(
      R"({{ "format": 1, "name": "large", "nodes": {{ {} "opt": {{ "use": "optimizer:adamw", "of": [{}] }} }},
    "fit": {{ "data": "train", "loss": {{ {} }}, "epochs": 1 }}, "validate": {{ "data": "train", "metrics": [{}], "allow_random": true }} }})",
      nodes, models, terms, metrics);
}

double seconds_to_build(const Resolved& merged, const Diagnostics& earlier, GraphResult& result) {
  const std::clock_t begin = std::clock();
  result = build_graph(merged, catalogue(), earlier);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

Resolved resolve_text(const std::string& text, Diagnostics& diagnostics) {
  ResolveRequest request;
  request.pipeline = "large.json";
  request.text = text;
  return resolve(request, diagnostics);
}

TEST(LargeGraph, FiveThousandNodesTakeNoTime) {
  Diagnostics diagnostics;
  const Resolved merged = resolve_text(large_pipeline(5000), diagnostics);
  ASSERT_TRUE(diagnostics.empty()) << render_text(diagnostics);
  GraphResult result;
  const double seconds = seconds_to_build(merged, diagnostics, result);
  ASSERT_TRUE(result.graph) << render_text(result.diagnostics).substr(0, 2000);
  EXPECT_GE(result.graph->nodes.size(), 5000U);
#ifdef NDEBUG
  EXPECT_LT(seconds, 5.0);  // a tenth of a second is usual; machines may be busy
#else
  EXPECT_LT(seconds, 20.0);
#endif
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

TEST(LargeGraph, IsCheckedInLinearTimeWhenAllOfItIsWrong) {
  std::string text = large_pipeline(4000);
  replace_all(text, R"("in": "f)", R"("in": "g)");
  replace_all(text, R"(": "m)", R"(": "n)");
  Diagnostics diagnostics;
  const Resolved merged = resolve_text(text, diagnostics);
  GraphResult result;
  const double seconds = seconds_to_build(merged, diagnostics, result);
  EXPECT_GT(result.diagnostics.errors(), 3000U);
#ifdef NDEBUG
  EXPECT_LT(seconds, 10.0);
#else
  EXPECT_LT(seconds, 40.0);
#endif
}

}  // namespace
}  // namespace tenon::core::testing
