// What transforms made of the fields of a stream: scales that are undone for metrics and predictions, and numbers that
// stand for texts.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <core/graph/stages.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::core {
namespace {

/// What lies behind a field of the batch, seen from the loader.
struct Trail {
  std::vector<NodeId> rescaled;       ///< Transforms that brought it to another scale, the last one first.
  std::optional<NodeId> categorical;  ///< The transform that made numbers of its texts.
};

bool names_output(const DraftNode& node, const std::string& field) {
  return std::any_of(node.out.begin(), node.out.end(), [&](const NamedPort& port) { return port.name == field; });
}

/// A transform that does not name the field hands it on.
bool passes(const DraftNode& node, const DraftNode& source, const std::string& field) {
  for (const NamedPort& port : node.out) {
    const std::vector<std::string>& except = port.rule->except;
    if (port.rule->pass) return std::find(except.begin(), except.end(), field) == except.end();
  }
  // Its outputs are not known: what comes in under this name is taken for what goes out under it.
  return node.out_open && std::any_of(source.fields.begin(), source.fields.end(),
                                      [&](const TypedValue& value) { return value.name == field; });
}

class ScaleFinder {
 public:
  explicit ScaleFinder(Draft& draft) : draft_(draft) {}

  void find() {
    for (DraftPath* const path : draft_.paths()) {
      for (const NodeId metric : path->metrics) undo_for(*path, metric);
    }
    if (!draft_.predict) return;
    for (DraftPhase& phase : draft_.phases) {
      for (const auto& [loss, weight] : phase.losses) note_pairs(phase.path, loss);
    }
    for (DraftPath* const path : draft_.paths()) {
      for (const NodeId metric : path->metrics) note_pairs(*path, metric);
    }
    for (DraftOutput& output : draft_.outputs) describe(output);
  }

 private:
  const Trail& trail_of(const DraftPath& path, const std::string& field) {
    const auto [known, added] = trails_[&path].try_emplace(field);
    Trail& trail = known->second;
    if (!added || !path.loader) return trail;
    const DraftNode* at = &draft_.nodes[*path.loader];
    // Nodes on a circle, which has been told, come back to themselves.
    for (std::size_t left = draft_.nodes.size(); left > 0 && at->feeds.size() == 1; --left) {
      const NodeId id = at->feeds.front();
      at = &draft_.nodes[id];
      if (at->node.kind != "transform" || at->node.info == nullptr || at->feeds.size() != 1) break;
      if (names_output(*at, field)) {
        if (at->node.info->has_ability(Categorical::kAbility)) trail.categorical = draft_.owner_of(id);
        if (!at->node.info->has_ability(Rescaled::kAbility)) break;
        trail.rescaled.push_back(draft_.owner_of(id));
      } else if (!passes(*at, draft_.nodes[at->feeds.front()], field)) {
        break;
      }
    }
    return trail;
  }

  void undo(DraftPath& path, const std::string& node, const std::string& port, const Trail& trail,
            const std::string& field) {
    for (const NodeId transform : trail.rescaled) {
      path.path.undo.push_back({node, port, draft_.nodes[transform].node.name, field});
    }
  }

  [[nodiscard]] static const DraftWire* wire_to(const DraftNode& node, const std::string& port) {
    const auto found = std::find_if(node.wires.begin(), node.wires.end(),
                                    [&](const DraftWire& wire) { return wire.wire.port == port; });
    return found == node.wires.end() ? nullptr : &*found;
  }

  /// The wire from the batch to the port of `node` that an annotation of another port names, or null.
  [[nodiscard]] static const DraftWire* batch_wire(const DraftNode& node, const std::string& port) {
    const DraftWire* const wire = port.empty() ? nullptr : wire_to(node, port);
    return wire != nullptr && wire->wire.from_batch() ? wire : nullptr;
  }

  void undo_for(DraftPath& path, NodeId id) {
    const DraftNode& metric = draft_.nodes[id];
    for (const DraftWire& wire : metric.wires) {
      const DraftWire* const field = wire.wire.from_batch() ? &wire
                                     : wire.rule == nullptr ? nullptr
                                                            : batch_wire(metric, wire.rule->like);
      if (field == nullptr) continue;
      const std::string& name = field->wire.output;
      undo(path, metric.node.name, wire.wire.port, trail_of(path, name), name);
    }
  }

  /// Outputs of models that a loss or metric compares with fields of its batch.
  void note_pairs(const DraftPath& path, NodeId id) {
    const DraftNode& node = draft_.nodes[id];
    for (const DraftWire& wire : node.wires) {
      if (!wire.source || wire.rule == nullptr) continue;
      const std::string key = key_of(*wire.source, wire.wire.output);
      if (const DraftWire* const field = batch_wire(node, wire.rule->like)) {
        like_.try_emplace(key, &path, field->wire.output);
      }
      if (const DraftWire* const field = batch_wire(node, wire.rule->classes)) {
        classes_.try_emplace(key, &path, field->wire.output);
      }
    }
  }

  void describe(DraftOutput& output) {
    using Form = PredictedOutput::Form;
    DraftPath& predict = *draft_.predict;
    const Form form = output.output.form;
    if (output.wire.wire.from_batch()) {
      if (form != Form::kValue) return;
      const std::string& field = output.wire.wire.output;
      const Trail& trail = trail_of(predict, field);
      undo(predict, "", output.output.name, trail, field);
      name_classes(output, trail, field);
      return;
    }
    if (form == Form::kSigmoid) return;
    const Pairs& pairs = form == Form::kValue ? like_ : classes_;
    const auto pair = pairs.find(key_of(*output.wire.source, output.wire.wire.output));
    if (pair == pairs.end()) return;
    const auto& [path, field] = pair->second;
    const Trail& trail = trail_of(*path, field);
    if (form == Form::kValue) {
      undo(predict, "", output.output.name, trail, field);
    } else {
      name_classes(output, trail, field);
    }
  }

  void name_classes(DraftOutput& output, const Trail& trail, const std::string& field) {
    if (!trail.categorical) return;
    output.output.categories = draft_.nodes[*trail.categorical].node.name;
    output.output.categories_field = field;
  }

  [[nodiscard]] std::string key_of(NodeId model, const std::string& output) const {
    return draft_.nodes[draft_.owner_of(model)].node.name + "." + output;
  }

  using Pairs = std::unordered_map<std::string, std::pair<const DraftPath*, std::string>>;

  Draft& draft_;
  std::map<const DraftPath*, std::unordered_map<std::string, Trail>> trails_;
  Pairs like_;     ///< By model and output: the path and field whose units it has.
  Pairs classes_;  ///< Likewise: whose classes it scores.
};

}  // namespace

void find_scales(Draft& draft) { ScaleFinder(draft).find(); }

}  // namespace tenon::core
