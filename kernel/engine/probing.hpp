// Looking into modules for one batch.
#pragma once

#include <vector>

#include <engine/engine.hpp>

namespace tenon::engine {

/// See Engine::probe. Components, data and weights of its own, so that no run is touched. [trainer]
[[nodiscard]] std::vector<ProbedOutput> probe_modules(const ProbeRequest& request);

}  // namespace tenon::engine
