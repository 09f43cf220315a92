// Runs and checkpoints as arguments of commands.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <host/arguments.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {

/// A checkpoint of a run.
struct RunPlace {
  std::filesystem::path run;
  std::filesystem::path checkpoint;
};

/// What a run directory (its best checkpoint, else its newest) or a checkpoint means.
/// \throws Error (kCheckpoint) when the text names neither, or the run has no checkpoint that verifies.
[[nodiscard]] RunPlace find_run_place(const std::string& text);

/// The pipeline as the run resolved it, with --overlay, --set and `sets` of the command. First values that models once
/// loaded ("load") are left out: the checkpoint has the weights, and the file need not be there any more.
[[nodiscard]] Pipeline read_run_pipeline(const RunPlace& place, const Arguments& arguments,
                                         const core::Catalogue& catalogue, const std::vector<std::string>& sets = {});

}  // namespace tenon::host
