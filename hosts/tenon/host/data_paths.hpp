// Which streams of a pipeline a data command is about.
#pragma once

#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <host/arguments.hpp>

namespace tenon::host {

/// Names of the streams that `--on` chooses, each once, in the graph's order: "train" and "fit" mean training,
/// "validate" every validation. Without `--on` all. \throws UsageError naming those that there are.
[[nodiscard]] std::vector<std::string> chosen_paths(const Arguments& arguments, const core::Graph& graph);

/// How people call a stream: "train" for "fit".
[[nodiscard]] std::string spoken_path(const std::string& path);

}  // namespace tenon::host
