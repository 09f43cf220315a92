// Graphs made by hand: what is drawn of phases, calls and streams that differ by path.
#include <host/graph_view.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <host/graph_dot.hpp>

namespace tenon::host {
namespace {

using core::Graph;
using core::Node;
using Names = std::vector<std::string>;

Node node(const std::string& name, const std::string& kind) {
  Node made;
  made.name = name;
  made.kind = kind;
  made.component = "any";
  return made;
}

Node loader(const std::string& name, Spec out) {
  Node made = node(name, "loader");
  made.out = std::move(out);
  return made;
}

core::Path path(const std::string& name, const std::string& data, Names step) {
  core::Path made;
  made.name = name;
  made.data = data;
  made.stream = {data};
  made.step = std::move(step);
  return made;
}

void add(Graph& graph, Node made) {
  graph.index[made.name] = graph.nodes.size();
  graph.nodes.push_back(std::move(made));
}

/// Two phases over loaders of different shapes, a model called a second time, and an optimizer.
Graph adversarial() {
  Graph graph;
  graph.name = "pair";
  add(graph, loader("small", {{"image", Dtype::kFloat32, {"N", 8}}}));
  add(graph, loader("large", {{"image", Dtype::kFloat32, {"N", 16}}}));
  Node critic = node("critic", "model");
  critic.wires = {{"in", "batch", "image"}};
  critic.out = {{"score", Dtype::kFloat32, {"N"}}};
  add(graph, critic);
  Node again = critic;
  again.name = "again";
  again.call = "critic";
  add(graph, again);
  Node loss = node("loss", "loss");
  loss.wires = {{"logits", "again", "score"}, {"unknown", "batch", "text"}};
  add(graph, loss);
  Node optimizer = node("opt", "optimizer");
  optimizer.of = {"critic"};
  add(graph, optimizer);
  Node schedule = node("sched", "schedule");
  schedule.of = {"opt"};
  add(graph, schedule);
  core::Phase first;
  first.name = "first";
  first.path = path("fit.first", "small", {"critic"});
  core::Phase second;
  second.name = "second";
  second.path = path("fit.second", "large", {"critic", "again", "loss"});
  graph.fit.path = first.path;
  graph.fit.phases = {first, second};
  return graph;
}

const GraphEdge* find_edge(const GraphView& view, EdgeKind kind, std::string_view from, std::string_view to) {
  for (const GraphEdge& edge : view.edges()) {
    if (edge.kind == kind && edge.from == from && edge.to == to) return &edge;
  }
  return nullptr;
}

TEST(GraphView, PathsAreThoseOfThePhases) {
  const Graph graph = adversarial();
  const GraphView view(graph);
  EXPECT_EQ(view.paths_of("critic"), (Names{"fit.first", "fit.second"}));
  EXPECT_EQ(view.paths_of("again"), Names{"fit.second"});
  // What is attached is on the paths of its target.
  EXPECT_EQ(view.paths_of("sched"), (Names{"fit.first", "fit.second"}));
  EXPECT_EQ(view.paths_of("nobody"), Names());
}

TEST(GraphView, AnInputThatDiffersByPathHasBothTypes) {
  const Graph graph = adversarial();
  const GraphView view(graph);
  EXPECT_EQ(find_edge(view, EdgeKind::kTensor, "batch", "critic")->types, (Names{"float32[N, 8]", "float32[N, 16]"}));
  EXPECT_EQ(find_edge(view, EdgeKind::kTensor, "batch", "again")->types, Names{"float32[N, 16]"});
  EXPECT_EQ(find_edge(view, EdgeKind::kTensor, "batch", "loss")->types, Names());  // the manifests do not tell
}

TEST(GraphView, EachPathLeadsIntoTheBatchAndACallToItsOwner) {
  const Graph graph = adversarial();
  const GraphView view(graph);
  EXPECT_EQ(find_edge(view, EdgeKind::kBatch, "small", "batch")->path, "fit.first");
  EXPECT_EQ(find_edge(view, EdgeKind::kBatch, "large", "batch")->path, "fit.second");
  EXPECT_NE(find_edge(view, EdgeKind::kCall, "again", "critic"), nullptr);
  EXPECT_NE(find_edge(view, EdgeKind::kOf, "opt", "critic"), nullptr);
}

TEST(GraphView, BlocksBeginWithWhatMostPathsShare) {
  const Graph graph = adversarial();
  const GraphView view(graph);
  const std::vector<GraphBlock> blocks = view.blocks(Plane::kStep);
  ASSERT_EQ(blocks.size(), 2);
  EXPECT_EQ(blocks[0].nodes.front()->name, "critic");
  EXPECT_EQ(blocks[1].paths, Names{"fit.second"});
  EXPECT_EQ(blocks[1].nodes.size(), 2);
}

TEST(GraphDot, ACallIsDashedAndItsTypesAreOnTheEdges) {
  const Graph graph = adversarial();
  const std::string text = graph_dot(GraphView(graph));
  EXPECT_NE(
      text.find(
          R"("again" [label="again\nmodel:any\ncall of critic", fillcolor="#f9dcb8", style="rounded,filled,dashed")"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("critic" -> "again" [label="call", style=dotted, dir=back, constraint=false];)"),
            std::string::npos);
  EXPECT_NE(text.find(R"(label="image to in\nfloat32[N, 8]\nor float32[N, 16]")"), std::string::npos);
}

TEST(DotQuoted, ShowsTheTextAsItStands) {
  EXPECT_EQ(dot_quoted("plain é"), "\"plain é\"");
  EXPECT_EQ(dot_quoted("a\"b\\N&lt;\n\t"), R"("a\"b\\N&amp;lt;\n?")");
}

}  // namespace
}  // namespace tenon::host
