// From a command's arguments to the catalogue and the checked pipeline.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/graph/build.hpp>
#include <core/graph/graph.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/plugin/search_path.hpp>
#include <core/resolve/resolve.hpp>
#include <core/text/diagnostic.hpp>
#include <host/arguments.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// Where plugins are looked for. \throws Error (kConfig) for an argument that does not exist.
[[nodiscard]] core::SearchPath search_path(const Arguments& arguments);

/// The catalogue of that path. What the search leaves out is told as a warning.
[[nodiscard]] core::Catalogue scan_plugins(const Arguments& arguments, Console& console);

/// A pipeline with all that is to be said about it.
struct Pipeline {
  core::Resolved resolved;
  std::optional<core::Graph> graph;  ///< Absent when there is any error.
  core::Diagnostics findings;        ///< Of all stages, by place.
};

/// Reads the first operand with --overlay, --set, --limit and --overfit; opens nothing. Never throws on bad input.
[[nodiscard]] Pipeline read_pipeline(const Arguments& arguments, const core::Catalogue& catalogue,
                                     core::GraphRules rules = {});

/// Likewise another file, such as the resolved configuration of a run; `sets` come before those of --set.
[[nodiscard]] Pipeline read_pipeline(const std::filesystem::path& file, const Arguments& arguments,
                                     const core::Catalogue& catalogue, const std::vector<std::string>& sets = {},
                                     core::GraphRules rules = {});

/// "1 path", "3 paths".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

}  // namespace tenon::host
