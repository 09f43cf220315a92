// Metrics over one pass of a path.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <engine/feed.hpp>
#include <engine/step_graph.hpp>

namespace tenon::engine {

/// Runs the path over all of its stream, in evaluation and without gradients, and computes its metrics. Keys are log
/// keys: PREFIX.NODE for a metric's first value, PREFIX.NODE.OUTPUT for the others. Changes neither modules nor
/// generators. \throws PlacedError. [trainer]
[[nodiscard]] std::map<std::string, double> evaluate(const Components& components, Feed& feed, Collectives& ranks,
                                                     const std::string& prefix, const at::Generator& generator);

}  // namespace tenon::engine
