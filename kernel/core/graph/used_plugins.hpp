// The plugins that a pipeline needs.
#pragma once

#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/plugin/catalogue.hpp>

namespace tenon::core {

/// What a run takes that names no node in `run.distributed`, and none in `fit.precision`.
inline constexpr const char* kOneProcess = "distributed:single";
inline constexpr const char* kFullPrecision = "precision:fp32";

struct UsedPlugin {
  const PluginInfo* plugin;  ///< Never the kernel's own; lives as long as a copy of the catalogue.
  std::string pointer;       ///< Of the first node, or entry of stop or observe, that uses it: "/nodes/opt"; or "/run".
};

/// Each plugin that some component of the graph comes from, those that stand as parameters of others
/// and those that a run takes unasked too; by id.
[[nodiscard]] std::vector<UsedPlugin> used_plugins(const Graph& graph, const Catalogue& catalogue);

}  // namespace tenon::core
