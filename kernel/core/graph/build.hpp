// From a resolved pipeline and the installed components to a graph, or to all that is wrong with it.
#pragma once

#include <optional>
#include <string_view>

#include <core/graph/graph.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/resolve/resolve.hpp>
#include <core/text/diagnostic.hpp>
#include <tenon/error.hpp>

namespace tenon::core {

/// How strict building is. A run that begins keeps all of it.
struct GraphRules {
  bool first_values = true;  ///< Files of "load" must be there; not where a checkpoint gives the values.
  bool all_used = true;      ///< A node that nothing uses is an error; else it is left out, as disabled ones are.
};

struct GraphResult {
  std::optional<Graph> graph;  ///< Absent when there is any error.
  Resolved resolved;           ///< The pipeline with the components' defaults filled in, for `explain` and `diagnose`.
  Diagnostics diagnostics;     ///< Errors and warnings of this stage alone.
};

/// Checks everything that manifests can tell and builds the graph; opens nothing. All findings come in one go; what an
/// error of `earlier` (those of `resolve`) already explains is not told again, and an error there means no graph.
/// Linear in the number of nodes. Never throws on bad input. [any thread]
[[nodiscard]] GraphResult build_graph(const Resolved& resolved, const Catalogue& catalogue,
                                      const Diagnostics& earlier = {}, GraphRules rules = {});

/// An error that a component reported while it was built or run, as a finding with its place. `error.pointer()` counts
/// below the node's `with`. The message names component and node.
[[nodiscard]] Diagnostic diagnose(const Resolved& resolved, const Node& node, const Error& error);
[[nodiscard]] Diagnostic diagnose(const Resolved& resolved, const Attached& attached, const Error& error);

/// An error about any value of the pipeline, such as "/run/device".
[[nodiscard]] Diagnostic diagnose(const Resolved& resolved, std::string_view pointer, const Error& error);

}  // namespace tenon::core
