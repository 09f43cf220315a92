// What `tenon run` prints at its end.
#pragma once

#include <filesystem>
#include <string>

#include <core/graph/graph.hpp>
#include <engine/engine.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// The table of results: metrics of the best and of the newest checkpoint, length and pace of training, files.
[[nodiscard]] std::string result_table(const core::Graph& graph, const engine::RunOutcome& outcome,
                                       const Console& console);

/// The outcome for programs, as --outcome writes it.
[[nodiscard]] core::Json outcome_json(const engine::RunOutcome& outcome);

/// The path as it is typed from here: relative where that is below the current directory.
[[nodiscard]] std::string short_path(const std::filesystem::path& path);

/// 0.9861, 8131.6, 1.25e-07: four digits that matter, or more before the point.
[[nodiscard]] std::string short_number(double value);

/// "8.4 s", "3 min 20 s", "2 h 05 min".
[[nodiscard]] std::string duration(double seconds);

}  // namespace tenon::host
