// Wires and port rules.
#include <engine/data_targets.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace tenon::engine {
namespace {

const core::Wire* wire_of(const core::Node& node, const std::string& port) {
  const auto found =
      std::find_if(node.wires.begin(), node.wires.end(), [&](const core::Wire& wire) { return wire.port == port; });
  return found == node.wires.end() ? nullptr : &*found;
}

/// A parameter such as "ignore_index".
std::optional<int64_t> ignored_by(const core::Node& node) {
  for (const auto& [name, value] : node.with.items()) {
    if (name.starts_with("ignore") && value.is_number_integer()) return value.get<int64_t>();
  }
  return std::nullopt;
}

/// The size of the axis behind the batch's, which scores classes where there is one axis more than targets have.
void count_classes(const core::Graph& graph, const core::Wire& scores, DataTarget& target) {
  if (scores.from_batch()) return;
  const FieldSpec* const field = find(graph.at(scores.source).out, scores.output);
  if (field == nullptr || field->shape.size() < 2 || !field->shape[1].fixed() || field->shape[1].size < 2) return;
  target.classes = field->shape[1].size;
  target.model = scores.source;
}

void add_targets(const core::Graph& graph, const core::Node& node, std::vector<DataTarget>& targets) {
  for (const Port& port : node.info->ports.in) {
    const bool classes = !port.classes.empty();
    if (!classes && (port.like.empty() || node.kind != "loss")) continue;
    const core::Wire* const target = wire_of(node, classes ? port.classes : port.like);
    const core::Wire* const scores = wire_of(node, port.name);
    if (target == nullptr || scores == nullptr || !target->from_batch()) continue;
    DataTarget found;
    found.field = target->output;
    found.node = node.name;
    found.numbers_classes = classes;
    if (classes) {
      found.ignored = ignored_by(node);
      count_classes(graph, *scores, found);
    }
    targets.push_back(std::move(found));
  }
}

/// Fields of the batch that nodes of a kind read.
std::set<std::string> fields_for(const core::Graph& graph, const core::Path& path, std::string_view kind) {
  std::set<std::string> fields;
  for (const std::string& name : path.step) {
    if (graph.at(name).kind != kind) continue;
    for (const core::Wire& wire : graph.at(name).wires) {
      if (wire.from_batch()) fields.insert(wire.output);
    }
  }
  return fields;
}

}  // namespace

std::vector<DataTarget> targets_of(const core::Graph& graph, const core::Path& path) {
  std::vector<DataTarget> targets;
  for (const char* const kind : {"loss", "metric"}) {
    for (const std::string& name : path.step) {
      if (graph.at(name).kind == kind) add_targets(graph, graph.at(name), targets);
    }
  }
  return targets;
}

std::set<std::string> model_inputs(const core::Graph& graph, const core::Path& path) {
  return fields_for(graph, path, "model");
}

std::set<std::string> loss_inputs(const core::Graph& graph, const core::Path& path) {
  return fields_for(graph, path, "loss");
}

}  // namespace tenon::engine
