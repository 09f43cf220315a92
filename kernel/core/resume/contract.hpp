// The resume contract: what has changed since a checkpoint was written, and what that means for going on from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/json/json.hpp>

namespace tenon::core {

enum class Effect : uint8_t {
  kApplied,      ///< The new value counts from here on, and nobody has to agree.
  kNeedsAccept,  ///< Training would not be what it was: refused unless accepted by its word.
};

/// One value that differs.
struct Change {
  std::string pointer;  ///< "/nodes/opt/with/lr" of the pipeline, "/provenance/threads" of the checkpoint's state.
  std::optional<Json> before;  ///< Nothing: it was not there.
  std::optional<Json> after;   ///< Nothing: it is gone.
  Effect effect = Effect::kApplied;
  std::string accept;       ///< Word for --accept; empty when applied.
  std::string consequence;  ///< What follows, for people: "training is unchanged".
  /// What takes up nothing of the checkpoint: a node's name, or "stop/0" for an entry of "stop". Empty: all is taken
  /// up.
  std::string begins_anew;
};

/// Where the file of a pipeline lay and lies, both absolute; `before` is empty where that is not known.
struct PipelineFolders {
  std::filesystem::path before;
  std::filesystem::path now;
};

/// The pipeline of a checkpoint's run (its config.resolved.json) against that of now (graph.resolved), of which `graph`
/// is the graph. By place. Lists of equal length are compared element by element, others as a whole, "stop" and
/// "observe" always by element. A node of another component is one change. A path that leads from the pipeline's folder
/// where it led before is the same, so that a project may be moved as a whole.
[[nodiscard]] std::vector<Change> compare_pipelines(const Json& before, const Json& after, const Graph& graph,
                                                    const PipelineFolders& folders = {});

/// "provenance" of a checkpoint's state.json against what is in force now. `graph` tells which datasets training reads.
[[nodiscard]] std::vector<Change> compare_provenance(const Json& before, const Json& now, const Graph& graph);

/// \throws Error (kConfig) that lists every change that is refused with its word and both values, and both ways out.
void require_accepted(std::span<const Change> changes, const std::set<std::string>& accepted);

/// The words of --accept that any pipeline knows, in order.
[[nodiscard]] std::span<const std::string_view> accept_words() noexcept;

/// These, and the names of the parameters of the pipeline's optimizers ("lr", "weight_decay").
[[nodiscard]] std::vector<std::string> accept_words(const Graph& graph);

/// \throws Error (kConfig) for words that accept_words(graph) lacks, each with the nearest.
void check_accept_words(const std::set<std::string>& accepted, const Graph& graph);

/// A line a change, in aligned columns: place, before → after, outcome. Empty without changes.
[[nodiscard]] std::string render(std::span<const Change> changes);

}  // namespace tenon::core
