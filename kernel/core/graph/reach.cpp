// What the roots reach, and whether every model is trained by exactly one optimizer.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/stages.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

bool trains(const Draft& draft, NodeId id) {
  const DraftNode& each = draft.nodes[id];
  return each.node.kind == "optimizer" && each.reached && !each.disabled;
}

/// Marks what the roots read; then what is attached to that, in order, so that a schedule follows its optimizer.
void mark_reached(Draft& draft) {
  std::vector<NodeId> open = draft.exports;
  if (draft.precision) open.push_back(*draft.precision);
  if (draft.distributed) open.push_back(*draft.distributed);
  for (const std::optional<DraftPath>* const path : {&draft.fit, &draft.validate, &draft.test}) {
    if (!*path) continue;
    open.insert(open.end(), (*path)->stream.begin(), (*path)->stream.end());
    open.insert(open.end(), (*path)->step.begin(), (*path)->step.end());
  }
  for (const NodeId id : draft.exports) {
    const std::vector<NodeId>& models = draft.nodes[id].targets;
    open.insert(open.end(), models.begin(), models.end());
  }
  while (!open.empty()) {
    DraftNode& each = draft.nodes[open.back()];
    open.pop_back();
    if (std::exchange(each.reached, true)) continue;
    open.insert(open.end(), each.feeds.begin(), each.feeds.end());
  }
  for (const NodeId id : draft.order) {
    DraftNode& each = draft.nodes[id];
    each.reached = each.reached || std::any_of(each.targets.begin(), each.targets.end(),
                                               [&](NodeId target) { return draft.nodes[target].reached; });
  }
}

/// Why a model has none, or too many, of what trains it.
void check_models(Draft& draft) {
  std::map<NodeId, std::vector<NodeId>> optimizers;
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    if (!trains(draft, id)) continue;
    for (const NodeId model : draft.nodes[id].targets) optimizers[model].push_back(id);
  }
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    const DraftNode& each = draft.nodes[id];
    if (each.node.kind != "model" || !each.reached || each.disabled) continue;
    const std::vector<NodeId>& found = optimizers[id];
    if (found.empty() && draft.links_are_whole()) {
      Diagnostic diagnostic = draft.at_key(each.node.pointer, "no-optimizer",
                                           fmt::format("no optimizer trains model {}", core::quoted(each.node.name)));
      diagnostic.label = fmt::format("an optimizer needs \"of\": {}", core::quoted(each.node.name));
      draft.add(std::move(diagnostic));
    }
    for (std::size_t i = 1; i < found.size(); ++i) {
      Diagnostic diagnostic = draft.at_value(
          draft.nodes[found[i]].node.pointer + "/of", "two-optimizers",
          fmt::format("model {} has two optimizers, {} and {}", core::quoted(each.node.name),
                      core::quoted(draft.nodes[found[0]].node.name), core::quoted(draft.nodes[found[i]].node.name)));
      diagnostic.label = "each parameter belongs to exactly one";
      draft.point_at(diagnostic, found[0], "the other one");
      draft.add(std::move(diagnostic));
    }
  }
}

void check_optimizers(Draft& draft) {
  if (!draft.fit || draft.losses.empty() || !draft.links_are_whole()) return;
  std::vector<bool> learns(draft.nodes.size(), false);
  for (const NodeId id : draft.fit->step) learns[id] = true;
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    if (!trains(draft, id)) continue;
    for (const NodeId model : draft.nodes[id].targets) {
      if (learns[model]) continue;
      Diagnostic diagnostic = draft.at_value(draft.nodes[id].node.pointer + "/of", "no-gradient",
                                             fmt::format("{} trains {}, which no loss of \"fit\" reads",
                                                         draft.title(id), core::quoted(draft.nodes[model].node.name)));
      draft.point_at(diagnostic, model, "gets no gradient");
      draft.add(std::move(diagnostic));
    }
  }
}

/// Each value of an optimizer is driven by at most one schedule.
void check_schedules(Draft& draft) {
  std::map<std::pair<NodeId, std::string>, NodeId> drivers;
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    const DraftNode& each = draft.nodes[id];
    if (each.node.kind != "schedule" || each.disabled || each.targets.empty()) continue;
    const auto [first, added] = drivers.try_emplace({each.targets.front(), each.node.field}, id);
    if (added) continue;
    Diagnostic diagnostic =
        draft.at_value(each.node.pointer + "/of", "two-schedules",
                       fmt::format("{} of {} has two schedules, {} and {}", core::quoted(each.node.field),
                                   core::quoted(each.node.of.front()),
                                   core::quoted(draft.nodes[first->second].node.name), core::quoted(each.node.name)));
    draft.point_at(diagnostic, first->second, "the other one");
    draft.add(std::move(diagnostic));
  }
}

void warn_unused_exporters(Draft& draft) {
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    const DraftNode& each = draft.nodes[id];
    const bool listed = std::find(draft.exports.begin(), draft.exports.end(), id) != draft.exports.end();
    if (each.node.kind != "exporter" || !each.reached || each.disabled || listed || !draft.links_are_whole()) continue;
    Diagnostic diagnostic =
        draft.at_key(each.node.pointer, "unused-exporter",
                     fmt::format("{} is not listed in \"export\" and writes nothing", draft.title(id)));
    diagnostic.severity = Severity::kWarning;
    draft.add(std::move(diagnostic));
  }
}

}  // namespace

void check_reach(Draft& draft) {
  mark_reached(draft);
  if (!draft.links_are_whole() || !draft.fit) return;
  for (const DraftNode& each : draft.nodes) {
    if (each.reached || each.disabled) continue;
    Diagnostic diagnostic =
        draft.at_key(each.node.pointer, "unreached",
                     fmt::format("nothing uses {} {}", each.node.kind, core::quoted(each.node.name)));
    diagnostic.label = "remove it, or say \"disabled\": true";
    draft.add(std::move(diagnostic));
  }
}

void check_training(Draft& draft) {
  check_models(draft);
  check_optimizers(draft);
  check_schedules(draft);
  warn_unused_exporters(draft);
}

}  // namespace tenon::core
