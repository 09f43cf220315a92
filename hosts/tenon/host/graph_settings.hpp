// The settings of a pipeline's sections in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <core/graph/graph.hpp>

namespace tenon::host {

/// One line each, by the name of the section or path: fit and its phases, validations, test, predict, checkpoint, stop,
/// observe, export, run.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> settings_of(const core::Graph& graph);

/// "every 1 epoch or 15 min"
[[nodiscard]] std::string to_string(const core::Cadence& cadence);

}  // namespace tenon::host
