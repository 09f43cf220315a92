// Differences of checkpoints for people and programs.
#pragma once

#include <string>
#include <string_view>

#include <core/graph/graph.hpp>
#include <core/json/json.hpp>
#include <core/storage/checkpoint_compare.hpp>

namespace tenon::host {

/// The difference that is nearest to its cause: what components keep goes before the optimizers' state, that before the
/// weights which it moves, and all before the manifest's hashes. `comparison` has at least one.
[[nodiscard]] const core::CheckpointDifference& nearest_to_cause(const core::Comparison& comparison);

/// "head.bias of net, model:mlp, updated by opt, optimizer:adamw, in model.net.safetensors: 3 of 10 elements differ …"
/// `one` and `other` are what the sides are called where something is missing: "the straight run".
[[nodiscard]] std::string describe(const core::CheckpointDifference& difference, const core::Graph& graph,
                                   std::string_view one, std::string_view other);

/// "exp_avg/net.head.bias in optimizer.opt.safetensors", or the file alone.
[[nodiscard]] std::string place_of(const core::CheckpointDifference& difference);

/// A list of {"file", "entry", "what", "max_abs"}.
[[nodiscard]] core::Json differences_json(const core::Comparison& comparison);

}  // namespace tenon::host
