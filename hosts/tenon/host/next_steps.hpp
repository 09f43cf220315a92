// How to go on after a run: commands that are ready to be pasted into a shell.
#pragma once

#include <string>

#include <engine/engine.hpp>
#include <host/arguments.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// What can be done with a run that is complete.
[[nodiscard]] std::string next_steps(const engine::RunRequest& request, const engine::RunOutcome& outcome,
                                     const Arguments& arguments, const Console& console);

/// What an interrupted run leaves, and how to go on with it.
[[nodiscard]] std::string interruption_notice(const engine::RunOutcome& outcome, const Arguments& arguments);

}  // namespace tenon::host
