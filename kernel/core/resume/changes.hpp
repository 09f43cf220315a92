// What has changed in a pipeline since a run of it was left.
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/resolve/resolve.hpp>
#include <core/resume/contract.hpp>

namespace tenon::core {

/// The pipeline as that run resolved it against the one of now. \throws Error (kCheckpoint) where the run does not say.
[[nodiscard]] std::vector<Change> changes_since(const std::filesystem::path& run, const Graph& graph,
                                                const Resolved& resolved);

/// What takes up nothing of the checkpoint, of all changes.
[[nodiscard]] std::set<std::string> beginning_anew(std::span<const Change> changes);

}  // namespace tenon::core
