// One run, from opened components to verified files.
#pragma once

#include <engine/engine.hpp>

namespace tenon::engine {

/// Runs a pipeline to its end. \throws Error, mostly PlacedError; what was written stays valid.
[[nodiscard]] RunOutcome run_session(const RunRequest& request);

}  // namespace tenon::engine
