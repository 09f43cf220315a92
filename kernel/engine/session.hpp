// One run, from opened components to verified files.
#pragma once

#include <engine/engine.hpp>

namespace tenon::engine {

/// Runs a pipeline to its end, or until it is interrupted: then all that it has is saved, and the outcome says so. Ranks
/// of an in-process backend are threads that live as long as the call. \throws Error, mostly PlacedError; what was
/// written stays valid.
[[nodiscard]] RunOutcome run_session(const RunRequest& request);

}  // namespace tenon::engine
