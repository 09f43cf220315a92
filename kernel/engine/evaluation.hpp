// Measuring a checkpoint again, apart from any run.
#pragma once

#include <map>
#include <string>

#include <engine/engine.hpp>

namespace tenon::engine {

/// On the ranks of the run, loads the weights of a checkpoint, takes the path's data through the models and computes its
/// metrics, as the run did. Opens no data but the path's, writes nothing. Metrics by log key. \throws Error, mostly PlacedError.
[[nodiscard]] std::map<std::string, double> evaluate_checkpoint(const EvaluateRequest& request);

}  // namespace tenon::engine
