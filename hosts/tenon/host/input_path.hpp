// Another file for the dataset at the head of a path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <core/graph/graph.hpp>

namespace tenon::host {

/// The dataset at the head of "predict", which the graph has.
[[nodiscard]] const core::Node& head_of_predict(const core::Graph& graph);

/// True when it reads one file or folder, which is not there: --input is to name another.
[[nodiscard]] bool needs_input(const core::Graph& graph);

/// Settings that let the dataset at the head of "predict" read `path`: its one parameter that is a path, or the first one
/// that it cannot do without. \throws Error (kConfig) when no parameter can be meant.
[[nodiscard]] std::vector<std::string> input_sets(const core::Graph& graph, const std::string& path);

/// Whether what was wrong with the dataset at the head of "predict" is that it reads a folder and `path` is a file.
/// `before`: the graph without --input; `error`: what the dataset said.
[[nodiscard]] bool wants_folder(const core::Graph& before, const std::string& path, std::string_view error);

}  // namespace tenon::host
