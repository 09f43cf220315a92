// Topological order of all nodes, the same for any order in the file, and its cycles.
#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/stages.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kMostShown = 8;

/// `cycle` runs along the flow: each feeds the next, the last the first.
void report_cycle(Draft& draft, const std::vector<NodeId>& cycle) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < cycle.size() && i < kMostShown; ++i) names.push_back(draft.nodes[cycle[i]].node.name);
  if (cycle.size() > kMostShown) names.emplace_back("…");
  names.push_back(draft.nodes[cycle.front()].node.name);
  const DraftNode& first = draft.nodes[cycle.front()];
  std::string pointer = first.node.pointer + "/in";
  for (const DraftWire& wire : first.wires) {
    if (wire.source == cycle.back()) pointer = wire.pointer;
  }
  Diagnostic diagnostic =
      draft.at_value(pointer, "cycle",
                     cycle.size() == 1 ? fmt::format("{} reads itself", draft.title(cycle.front()))
                                       : fmt::format("nodes read each other in a circle: {}", fmt::join(names, " → ")));
  diagnostic.label = "break it here or further along";
  for (std::size_t i = 1; i < cycle.size() && i < kMostShown; ++i)
    draft.point_at(diagnostic, cycle[i], "on the circle");
  draft.add(std::move(diagnostic));
}

}  // namespace

void order_nodes(Draft& draft) {
  const std::size_t count = draft.nodes.size();
  std::vector<std::vector<NodeId>> readers(count);
  std::vector<std::size_t> waiting(count, 0);
  for (NodeId id = 0; id < count; ++id) {
    for (const auto* const sources : {&draft.nodes[id].feeds, &draft.nodes[id].targets}) {
      for (const NodeId source : *sources) readers[source].push_back(id);
      waiting[id] += sources->size();
    }
  }

  // Ids follow names: the least one that is ready comes first.
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (NodeId id = 0; id < count; ++id) {
    if (waiting[id] == 0) ready.push(id);
  }
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    draft.order.push_back(id);
    for (const NodeId reader : readers[id]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }

  // Their types stay unknown.
  for (NodeId id = 0; id < count; ++id) draft.nodes[id].out_open = draft.nodes[id].out_open || waiting[id] > 0;

  // Whoever still waits has a waiting source: walking up from it must come round.
  enum class State { kNew, kWalked, kDone };
  std::vector<State> states(count, State::kNew);
  for (NodeId start = 0; start < count; ++start) {
    std::vector<NodeId> walk;
    NodeId at = start;
    while (waiting[at] > 0 && states[at] == State::kNew) {
      states[at] = State::kWalked;
      walk.push_back(at);
      const DraftNode& each = draft.nodes[at];
      for (const auto* const sources : {&each.targets, &each.feeds}) {
        for (const NodeId source : *sources) {
          if (waiting[source] > 0) at = source;
        }
      }
    }
    if (waiting[at] > 0 && states[at] == State::kWalked) {
      // The walk went against the flow.
      std::vector<NodeId> cycle(std::find(walk.begin(), walk.end(), at), walk.end());
      std::reverse(cycle.begin(), cycle.end());
      std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
      report_cycle(draft, cycle);
    }
    for (const NodeId id : walk) states[id] = State::kDone;
  }
}

}  // namespace tenon::core
