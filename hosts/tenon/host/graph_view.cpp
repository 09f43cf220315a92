// Paths by node, and edges from wires, streams and targets.
#include <host/graph_view.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace tenon::host {

Plane plane_of(const core::Node& node) noexcept {
  for (const std::string_view kind : {"dataset", "transform", "loader"}) {
    if (node.kind == kind) return Plane::kData;
  }
  for (const std::string_view kind : {"model", "loss", "metric"}) {
    if (node.kind == kind) return Plane::kStep;
  }
  return Plane::kAttached;
}

std::string_view name_of(Plane plane) noexcept {
  switch (plane) {
    case Plane::kData: return "data";
    case Plane::kStep: return "step";
    case Plane::kAttached: return "attached";
  }
  return "";
}

std::vector<std::string> field_texts(const Spec& spec) {
  std::vector<std::string> texts;
  std::transform(spec.begin(), spec.end(), std::back_inserter(texts),
                 [](const FieldSpec& field) { return fmt::format("{} {}", field.name, tenon::to_string(field)); });
  return texts;
}

GraphView::GraphView(const core::Graph& graph) : graph_(&graph), paths_(graph.paths()) {
  find_paths();
  for (const core::Path* const path : paths_) {
    if (path->data.empty()) continue;
    GraphEdge edge{.kind = EdgeKind::kBatch, .from = path->data, .to = std::string(core::kBatch), .path = path->name};
    if (const core::Node* const loader = graph.find(path->data)) edge.types = field_texts(loader->out);
    edges_.push_back(std::move(edge));
  }
  for (const core::Node& node : graph.nodes) add_edges(node);
}

void GraphView::find_paths() {
  for (const core::Path* const path : paths_) {
    std::set<std::string_view> there;
    for (const auto* const part : {&path->stream, &path->step}) {
      for (const std::string& node : *part) {
        if (there.insert(node).second) runs_[node].push_back(path);
      }
    }
  }
  for (const auto& [node, paths] : runs_) {
    for (const core::Path* const path : paths) names_[node].push_back(path->name);
  }
  // Nodes stand behind what they refer to, so that a schedule finds its optimizer's paths.
  for (const core::Node& node : graph_->nodes) {
    if (node.of.empty()) continue;
    std::set<std::string_view> reached;
    for (const std::string& target : node.of) {
      const std::vector<std::string>& there = paths_of(target);
      reached.insert(there.begin(), there.end());
    }
    std::vector<std::string>& names = names_[node.name];
    for (const core::Path* const path : paths_) {
      if (reached.contains(path->name)) names.push_back(path->name);
    }
  }
}

const std::vector<std::string>& GraphView::paths_of(std::string_view node) const {
  static const std::vector<std::string> kNone;
  const auto found = names_.find(node);
  return found == names_.end() ? kNone : found->second;
}

std::vector<GraphBlock> GraphView::blocks(Plane plane) const {
  std::vector<GraphBlock> found;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const core::Node& node : graph_->nodes) {
    if (plane_of(node) != plane) continue;
    const std::vector<std::string>& paths = paths_of(node.name);
    const auto [place, added] = known.try_emplace(paths, found.size());
    if (added) found.push_back({paths, {}});
    found[place->second].nodes.push_back(&node);
  }
  const auto rank = [&](const GraphBlock& block) {
    const auto first = std::find_if(paths_.begin(), paths_.end(), [&](const core::Path* path) {
      return !block.paths.empty() && path->name == block.paths.front();
    });
    return std::pair(first - paths_.begin(), paths_.size() - block.paths.size());
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const GraphBlock& a, const GraphBlock& b) { return rank(a) < rank(b); });
  return found;
}

std::vector<std::string> GraphView::types_of(const core::Node& node, const core::Wire& wire) const {
  std::vector<std::string> types;
  const auto add = [&](std::string_view source) {
    const core::Node* const from = graph_->find(source);
    const FieldSpec* const field = from == nullptr ? nullptr : tenon::find(from->out, wire.output);
    if (field == nullptr) return;
    std::string text = tenon::to_string(*field);
    if (std::find(types.begin(), types.end(), text) == types.end()) types.push_back(std::move(text));
  };
  if (!wire.from_batch()) {
    add(wire.source);
  } else if (const auto found = runs_.find(node.name); found != runs_.end()) {
    for (const core::Path* const path : found->second) add(path->data);
  }
  return types;
}

void GraphView::add_edges(const core::Node& node) {
  for (const std::string& input : node.inputs) {
    GraphEdge edge{.kind = EdgeKind::kStream, .from = input, .to = node.name};
    if (const core::Node* const source = graph_->find(input)) edge.types = field_texts(source->out);
    edges_.push_back(std::move(edge));
  }
  for (const core::Wire& wire : node.wires) {
    edges_.push_back({.kind = EdgeKind::kTensor,
                      .from = wire.source,
                      .to = node.name,
                      .output = wire.output,
                      .port = wire.port,
                      .types = types_of(node, wire)});
  }
  for (const std::string& target : node.of) {
    edges_.push_back({.kind = EdgeKind::kOf, .from = node.name, .to = target});
  }
  if (!node.call.empty()) edges_.push_back({.kind = EdgeKind::kCall, .from = node.name, .to = node.call});
}

}  // namespace tenon::host
