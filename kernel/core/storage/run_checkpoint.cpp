// Finding checkpoints, and the pipelines that they belong to.
#include <core/storage/run_checkpoint.hpp>

#include <optional>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/checkpoint_index.hpp>

namespace tenon::core {
namespace {

/// The folder's own name is needed, also of "runs/digits/0001/" and ".".
std::filesystem::path named(const std::string& text) {
  std::filesystem::path path = std::filesystem::absolute(text).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

/// The best checkpoint of a run where one is known, else the newest that verifies.
std::filesystem::path checkpoint_of(const std::filesystem::path& run) {
  const std::filesystem::path folder = run / "checkpoints";
  const CheckpointIndex index = CheckpointIndex::load(folder);
  if (index.best) return folder / step_name(*index.best);
  std::vector<std::string> damaged;
  const std::optional<Checkpoint> newest = newest_checkpoint(folder, damaged);
  if (newest) return newest->path();
  throw Error(ErrorCode::kCheckpoint, fmt::format("the run {} has no checkpoint that can be used{}{}", run.string(),
                                                  damaged.empty() ? "" : ": ", damaged.empty() ? "" : damaged.front()));
}

}  // namespace

RunCheckpoint find_run_checkpoint(const std::string& text) {
  const std::filesystem::path path = named(text);
  if (std::filesystem::exists(RunCheckpoint{path, {}}.config())) return {path, checkpoint_of(path)};
  RunCheckpoint place{path.parent_path().parent_path(), path};
  if (step_of(path.filename().string()) && std::filesystem::exists(place.config())) return place;
  throw Error(ErrorCode::kCheckpoint,
              fmt::format("{} is neither a run directory (runs/NAME/NUMBER) nor a checkpoint of one "
                          "(runs/NAME/NUMBER/checkpoints/step-NNNNNN)",
                          text));
}

std::vector<std::string> sets_without_first_values(const RunCheckpoint& place) {
  std::vector<std::string> sets;
  const Json config = read_json(place.config());
  if (const Json* const nodes = find_member(config, "nodes"); nodes != nullptr && nodes->is_object()) {
    for (const auto& [name, node] : nodes->items()) {
      if (find_member(node, "load") != nullptr) sets.push_back(fmt::format("nodes.{}.load=null", name));
    }
  }
  return sets;
}

}  // namespace tenon::core
