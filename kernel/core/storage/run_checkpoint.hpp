// Runs and checkpoints as people and programs name them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::core {

/// A checkpoint of a run.
struct RunCheckpoint {
  std::filesystem::path run;
  std::filesystem::path checkpoint;

  /// The pipeline as the run resolved it.
  [[nodiscard]] std::filesystem::path config() const { return run / "config.resolved.json"; }
};

/// What a run directory (its best checkpoint, else its newest) or a checkpoint means.
/// \throws Error (kCheckpoint) when the text names neither, or the run has no checkpoint that verifies.
[[nodiscard]] RunCheckpoint find_run_checkpoint(const std::string& text);

/// Settings that leave the first values out which models of the run once loaded ("load"): the checkpoint has the
/// weights, and the file need not be there any more. \throws Error (kCheckpoint).
[[nodiscard]] std::vector<std::string> sets_without_first_values(const RunCheckpoint& place);

}  // namespace tenon::core
