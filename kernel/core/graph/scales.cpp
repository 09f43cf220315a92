// What transforms made of the fields of a stream: scales that are undone for metrics and predictions, and numbers that
// stand for texts.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/graph/stages.hpp>
#include <core/text/suggest.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::core {
namespace {

/// A field as a transform, or a dataset, calls it.
struct FieldOf {
  NodeId transform = 0;
  std::string field;
};

/// A field that was made of several, one of which had been brought to a scale of its own.
struct Mixture {
  NodeId transform = 0;  ///< What joined them.
  FieldOf part;          ///< The one of another scale, and what brought it there.
};

/// What lies behind a field of the batch, seen from the end of the stream.
struct Trail {
  std::vector<FieldOf> rescaled;       ///< What brought it to another scale, the last one first.
  std::optional<FieldOf> categorical;  ///< What made numbers of its texts, or a dataset that knows its classes.
  std::optional<Mixture> mixture;      ///< Where the trail ends, as no one scale lies behind it.
};

/// The rule for a field that the transform names among its outputs, or null.
const Port* output_rule(const DraftNode& node, const std::string& field) {
  const auto found =
      std::find_if(node.out.begin(), node.out.end(), [&](const NamedPort& port) { return port.name == field; });
  return found == node.out.end() ? nullptr : found->rule;
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
  using Seen = std::set<std::pair<NodeId, std::string>>;

  const Trail& trail_of(const DraftPath& path, const std::string& field) {
    const auto [known, added] = trails_[&path].try_emplace(field);
    Seen seen;
    if (added && path.end) known->second = follow(*path.end, field, seen);
    return known->second;
  }

  /// What lies behind a field that `id` gives. Parts of joined fields that were `seen` are not followed again.
  [[nodiscard]] Trail follow(NodeId id, std::string field, Seen& seen) const {
    Trail trail;
    // Nodes on a circle, which has been told, come back to themselves.
    for (std::size_t left = draft_.nodes.size(); left > 0; --left, id = draft_.nodes[id].feeds.front()) {
      const DraftNode& at = draft_.nodes[id];
      if (at.node.info == nullptr) break;
      if (at.node.kind == "dataset" && !trail.categorical && at.node.info->has_ability(Categorical::kAbility)) {
        trail.categorical = {draft_.owner_of(id), field};
      }
      if (at.feeds.empty()) break;
      if (at.feeds.size() > 1) {
        trail.mixture = mixture_of_streams(id, field, seen);
        break;
      }
      if (at.node.kind == "loader") continue;
      const Port* const rule = output_rule(at, field);
      if (rule == nullptr) {
        if (passes(at, draft_.nodes[at.feeds.front()], field)) continue;
        break;
      }
      if (at.node.info->has_ability(Categorical::kAbility)) trail.categorical = {draft_.owner_of(id), field};
      const bool rescaled = at.node.info->has_ability(Rescaled::kAbility);
      if (rescaled) trail.rescaled.push_back({draft_.owner_of(id), field});
      if (!rule->copies.empty()) {
        const std::vector<std::string> parts = expand_name(rule->copies, at.parameters);
        if (parts.size() != 1) {
          trail.mixture = mixture_of(id, parts, seen);
          break;
        }
        field = parts.front();
      } else if (!rescaled) {
        break;
      }
    }
    return trail;
  }

  /// A dataset joined of several streams, of which some brought the field to another scale.
  [[nodiscard]] std::optional<Mixture> mixture_of_streams(NodeId id, const std::string& field, Seen& seen) const {
    for (const NodeId feed : draft_.nodes[id].feeds) {
      if (!seen.emplace(feed, field).second) continue;
      const Trail trail = follow(feed, field, seen);
      if (!trail.rescaled.empty()) return Mixture{id, {trail.rescaled.front().transform, field}};
      if (trail.mixture) return Mixture{id, {trail.mixture->part.transform, field}};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Mixture> mixture_of(NodeId id, const std::vector<std::string>& parts, Seen& seen) const {
    for (const std::string& part : parts) {
      if (!seen.emplace(id, part).second) continue;
      const Trail trail = follow(draft_.nodes[id].feeds.front(), part, seen);
      if (!trail.rescaled.empty()) return Mixture{id, {trail.rescaled.front().transform, part}};
      if (trail.mixture) return Mixture{id, {trail.mixture->part.transform, part}};
    }
    return std::nullopt;
  }

  /// `wire` is how `node` comes by the field of that trail, or by a value in its units.
  void undo(DraftPath& path, const std::string& node, const std::string& port, const Trail& trail,
            const std::string& field, const DraftWire& wire) {
    if (trail.mixture) return refuse(*trail.mixture, node, field, wire);
    for (const FieldOf& each : trail.rescaled) {
      path.path.undo.push_back({node, port, draft_.nodes[each.transform].node.name, each.field});
    }
  }

  /// Once for all ports of a metric that come by the field.
  void refuse(const Mixture& mixture, const std::string& node, const std::string& field, const DraftWire& wire) {
    if (!refused_.emplace(node.empty() ? wire.pointer : node, field).second) return;
    const std::string& joint = draft_.nodes[draft_.owner_of(mixture.transform)].node.name;
    const std::string& scaling = draft_.nodes[mixture.part.transform].node.name;
    Diagnostic diagnostic = draft_.at_value(
        wire.pointer, "mixed-scales",
        fmt::format("the scale of {} cannot be undone: {} joined it of several fields, of which {} had one of its own",
                    core::quoted(field), core::quoted(joint), core::quoted(mixture.part.field)));
    diagnostic.label = fmt::format("join first: let {} stand behind {} and rescale {}", core::quoted(scaling),
                                   core::quoted(joint), core::quoted(field));
    diagnostic.notes.emplace_back("metrics and predictions show values as the data has them");
    draft_.point_at(diagnostic, mixture.part.transform, fmt::format("rescales {}", core::quoted(mixture.part.field)));
    draft_.add(std::move(diagnostic));
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
      undo(path, metric.node.name, wire.wire.port, trail_of(path, name), name, wire);
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
      undo(predict, "", output.output.name, trail, field, output.wire);
      name_classes(output, trail);
      return;
    }
    if (form == Form::kSigmoid) return;
    const Pairs& pairs = form == Form::kValue ? like_ : classes_;
    const auto pair = pairs.find(key_of(*output.wire.source, output.wire.wire.output));
    if (pair == pairs.end()) return;
    const auto& [path, field] = pair->second;
    const Trail& trail = trail_of(*path, field);
    if (form == Form::kValue) {
      undo(predict, "", output.output.name, trail, field, output.wire);
    } else {
      name_classes(output, trail);
    }
  }

  void name_classes(DraftOutput& output, const Trail& trail) {
    if (!trail.categorical) return;
    output.output.categories = draft_.nodes[trail.categorical->transform].node.name;
    output.output.categories_field = trail.categorical->field;
  }

  [[nodiscard]] std::string key_of(NodeId model, const std::string& output) const {
    return draft_.nodes[draft_.owner_of(model)].node.name + "." + output;
  }

  using Pairs = std::unordered_map<std::string, std::pair<const DraftPath*, std::string>>;

  Draft& draft_;
  std::map<const DraftPath*, std::unordered_map<std::string, Trail>> trails_;
  std::set<std::pair<std::string, std::string>> refused_;  ///< Metrics, or places of outputs, and fields.
  Pairs like_;     ///< By model and output: the path and field whose units it has.
  Pairs classes_;  ///< Likewise: whose classes it scores.
};

}  // namespace

void find_scales(Draft& draft) { ScaleFinder(draft).find(); }

}  // namespace tenon::core
