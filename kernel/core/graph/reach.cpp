// What the roots reach, and whether every model is trained by exactly one optimizer.
#include <algorithm>
#include <map>
#include <set>
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
  std::vector<DraftPath*> paths = draft.paths();
  if (draft.fit) paths.push_back(&*draft.fit);
  for (const DraftPath* const path : paths) {
    open.insert(open.end(), path->stream.begin(), path->stream.end());
    open.insert(open.end(), path->step.begin(), path->step.end());
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
    if (each.owner) open.push_back(*each.owner);
  }
  for (const NodeId id : draft.order) {
    DraftNode& each = draft.nodes[id];
    each.reached = each.reached || std::any_of(each.targets.begin(), each.targets.end(),
                                               [&](NodeId target) { return draft.nodes[target].reached; });
  }
}

void warn_of_random_values(Draft& draft, NodeId id) {
  const DraftNode& each = draft.nodes[id];
  if (!each.node.load.empty() || draft.has_error_under(each.node.pointer)) return;
  Diagnostic diagnostic =
      draft.at_key(each.node.pointer, "frozen-random", fmt::format("{} is frozen with random values", draft.title(id)));
  diagnostic.label = "add \"load\" with a file of its values";
  diagnostic.severity = Severity::kWarning;
  draft.add(std::move(diagnostic));
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
    if (each.node.kind != "model" || !each.reached || each.disabled || each.owner) continue;
    if (each.node.frozen) {
      warn_of_random_values(draft, id);
      continue;
    }
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

/// Each optimizer against the losses of the phases in which it updates.
class OptimizerCheck {
 public:
  explicit OptimizerCheck(Draft& draft) : draft_(draft), read_by_(draft.nodes.size(), 0) {}

  void run() {
    if (!draft_.fit || !draft_.links_are_whole()) return;
    const auto has_losses = [](const DraftPhase& phase) { return !phase.losses.empty(); };
    if (!std::all_of(draft_.phases.begin(), draft_.phases.end(), has_losses)) return;
    for (const DraftPhase& phase : draft_.phases) {
      ++phase_;
      for (const NodeId id : phase.path.step) read_by_[draft_.owner_of(id)] = phase_;
      if (phase.name.empty()) {
        for (NodeId id = 0; id < draft_.nodes.size(); ++id) {
          if (trains(draft_, id)) note(id);
        }
      }
      for (const auto& [id, place] : phase.optimizers) {
        if (trains(draft_, id) && !note(id)) report_idle_in(phase, id, place);
      }
    }
    for (NodeId id = 0; id < draft_.nodes.size(); ++id) {
      if (trains(draft_, id)) report(id);
    }
  }

 private:
  /// Notes which models the optimizer trains in the present phase. False when there is none.
  bool note(NodeId id) {
    Standing& standing = standings_[id];
    standing.in_a_phase = true;
    bool any = false;
    for (const NodeId model : draft_.nodes[id].targets) {
      if (read_by_[model] != phase_) continue;
      standing.trained.insert(model);
      any = true;
    }
    return any;
  }

  void report_idle_in(const DraftPhase& phase, NodeId id, const std::string& place) {
    standings_[id].told = true;
    Diagnostic diagnostic = draft_.at_value(
        place, "no-gradient",
        fmt::format("no loss of phase {} reads what {} trains", core::quoted(phase.name), draft_.title(id)));
    diagnostic.label = "nothing gets a gradient";
    for (const NodeId model : draft_.nodes[id].targets) draft_.point_at(diagnostic, model, "trained by it");
    draft_.add(std::move(diagnostic));
  }

  void report(NodeId id) {
    const Standing& standing = standings_[id];
    const DraftNode& each = draft_.nodes[id];
    if (!standing.in_a_phase) {
      Diagnostic diagnostic = draft_.at_key(each.node.pointer, "idle-optimizer",
                                            fmt::format("{} updates in no phase of fit", draft_.title(id)));
      diagnostic.label = "add it to the \"optimizers\" of a phase";
      draft_.add(std::move(diagnostic));
      return;
    }
    for (const NodeId model : each.targets) {
      if (standing.told || standing.trained.contains(model) || draft_.nodes[model].node.frozen) continue;
      const std::string& name = draft_.nodes[model].node.name;
      Diagnostic diagnostic =
          draft_.at_value(each.node.pointer + "/of", "no-gradient",
                          fmt::format("{} trains {}, which no loss of \"fit\" reads{}", draft_.title(id),
                                      core::quoted(name), draft_.phases.front().name.empty() ? "" : " in its phases"));
      draft_.point_at(diagnostic, model, "gets no gradient");
      draft_.add(std::move(diagnostic));
    }
  }

  struct Standing {
    bool in_a_phase = false;
    bool told = false;
    std::set<NodeId> trained;
  };

  Draft& draft_;
  std::vector<std::size_t> read_by_;  ///< The last phase whose losses read the node.
  std::size_t phase_ = 0;
  std::map<NodeId, Standing> standings_;
};

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
  if (!draft.rules.all_used || !draft.links_are_whole() || !draft.fit) return;
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    const DraftNode& each = draft.nodes[id];
    if (each.reached || each.disabled) continue;
    Diagnostic diagnostic =
        draft.at_key(each.node.pointer, "unreached",
                     fmt::format("nothing uses {} {}", each.node.kind, core::quoted(each.node.name)));
    diagnostic.label = "remove it, or say \"disabled\": true";
    draft.propose_lower_node(diagnostic, id, "remove it, or say \"disabled\": true");
    draft.add(std::move(diagnostic));
  }
}

void check_training(Draft& draft) {
  check_models(draft);
  OptimizerCheck(draft).run();
  check_schedules(draft);
  warn_unused_exporters(draft);
}

}  // namespace tenon::core
