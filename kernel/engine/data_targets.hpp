// What the step plane expects of the fields of a batch.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <engine/data_report.hpp>

namespace tenon::engine {

/// Fields that losses and metrics of a path take as targets, by the port rules of their manifests: classes where
/// another port scores them, quantities where another port of a loss is in their units. How many classes there are is
/// told by the type of the scores, as far as the graph knows it. Losses come first.
[[nodiscard]] std::vector<DataTarget> targets_of(const core::Graph& graph, const core::Path& path);

/// Fields of the batch that models of a path read.
[[nodiscard]] std::set<std::string> model_inputs(const core::Graph& graph, const core::Path& path);

/// Likewise losses.
[[nodiscard]] std::set<std::string> loss_inputs(const core::Graph& graph, const core::Path& path);

}  // namespace tenon::engine
