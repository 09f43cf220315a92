// Finding checkpoints, and the pipelines that they belong to.
#include <host/run_place.hpp>

#include <optional>

#include <fmt/format.h>

#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/checkpoint_index.hpp>

namespace tenon::host {
namespace {

constexpr const char* kConfig = "config.resolved.json";

/// The folder's own name is needed, also of "runs/digits/0001/" and ".".
std::filesystem::path named(const std::string& text) {
  std::filesystem::path path = std::filesystem::absolute(text).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

/// The best checkpoint of a run where one is known, else the newest that verifies.
std::filesystem::path checkpoint_of(const std::filesystem::path& run) {
  const std::filesystem::path folder = run / "checkpoints";
  const core::CheckpointIndex index = core::CheckpointIndex::load(folder);
  if (index.best) return folder / core::step_name(*index.best);
  std::vector<std::string> damaged;
  const std::optional<core::Checkpoint> newest = core::newest_checkpoint(folder, damaged);
  if (newest) return newest->path();
  throw Error(ErrorCode::kCheckpoint, fmt::format("the run {} has no checkpoint that can be used{}{}", run.string(),
                                                  damaged.empty() ? "" : ": ", damaged.empty() ? "" : damaged.front()));
}

}  // namespace

RunPlace find_run_place(const std::string& text) {
  const std::filesystem::path path = named(text);
  if (std::filesystem::exists(path / kConfig)) return {path, checkpoint_of(path)};
  const std::filesystem::path run = path.parent_path().parent_path();
  if (core::step_of(path.filename().string()) && std::filesystem::exists(run / kConfig)) return {run, path};
  throw Error(ErrorCode::kCheckpoint,
              fmt::format("{} is neither a run directory (runs/NAME/NUMBER) nor a checkpoint of one "
                          "(runs/NAME/NUMBER/checkpoints/step-NNNNNN)",
                          text));
}

Pipeline read_run_pipeline(const RunPlace& place, const Arguments& arguments, const core::Catalogue& catalogue,
                           const std::vector<std::string>& sets) {
  const std::filesystem::path file = place.run / kConfig;
  std::vector<std::string> all;
  const core::Json config = core::read_json(file);
  if (const core::Json* const nodes = core::find_member(config, "nodes"); nodes != nullptr && nodes->is_object()) {
    for (const auto& [name, node] : nodes->items()) {
      if (core::find_member(node, "load") != nullptr) all.push_back(fmt::format("nodes.{}.load=null", name));
    }
  }
  all.insert(all.end(), sets.begin(), sets.end());
  // Other data, say, may leave nodes of the run without use.
  return read_pipeline(file, arguments, catalogue, all, {.all_used = false});
}

}  // namespace tenon::host
