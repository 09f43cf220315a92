// Runs the stages of building a graph.
#include <core/graph/build.hpp>

#include <utility>

#include <core/graph/stages.hpp>

namespace tenon::core {

GraphResult build_graph(const Resolved& resolved, const Catalogue& catalogue, const Diagnostics& earlier,
                        GraphRules rules) {
  GraphResult result;
  result.resolved = resolved;
  if (!resolved.usable()) return result;

  Draft draft(result.resolved, catalogue, earlier, result.diagnostics);
  draft.rules = rules;
  read_attached(draft);
  read_nodes(draft);
  if (draft.nodes.empty()) {  // whatever the rest refers to is not there
    if (!draft.has_errors()) {
      result.diagnostics.add(result.resolved.error_at_value("/nodes", "no-nodes", "the pipeline has no nodes"));
    }
    return result;
  }
  read_calls(draft);
  link_nodes(draft);
  order_nodes(draft);
  type_streams(draft);
  build_paths(draft);
  type_paths(draft);
  read_roots(draft);
  check_reach(draft);
  check_training(draft);
  check_data_rules(draft);
  check_streams(draft);
  const MetricTable metrics(draft);
  resolve_references(draft, metrics);
  warn_of_tuning_on_test(draft, metrics);
  find_scales(draft);
  Graph graph = finish(draft, metrics);
  if (!draft.has_errors() && draft.fit) result.graph = std::move(graph);
  return result;
}

}  // namespace tenon::core
