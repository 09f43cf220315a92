// Runs and checkpoints as arguments of commands.
#pragma once

#include <string>
#include <vector>

#include <core/storage/run_checkpoint.hpp>
#include <host/arguments.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {

using RunPlace = core::RunCheckpoint;

/// What a run directory or a checkpoint means, as an argument.
[[nodiscard]] inline RunPlace find_run_place(const std::string& text) { return core::find_run_checkpoint(text); }

/// The pipeline as the run resolved it, with --overlay, --set and `sets` of the command. First values that models once
/// loaded ("load") are left out: the checkpoint has the weights, and the file need not be there any more.
[[nodiscard]] Pipeline read_run_pipeline(const RunPlace& place, const Arguments& arguments,
                                         const core::Catalogue& catalogue, const std::vector<std::string>& sets = {});

}  // namespace tenon::host
