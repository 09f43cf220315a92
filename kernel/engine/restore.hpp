// From a checkpoint back to the state of everything behind its step.
#pragma once

#include <set>
#include <string>

#include <core/storage/checkpoint.hpp>
#include <engine/components.hpp>
#include <engine/training.hpp>

namespace tenon::engine {

/// What a checkpoint says beyond the state of components.
struct Standing {
  bool validation_pending = false;  ///< Due at its step and not done: comes first when a run goes on.
  std::string stopped;              ///< Why training has ended; empty when it goes on.
  bool interim = false;             ///< Written only because the run was interrupted.
};

/// Gives models, optimizers and all other components their state back, and training its position. Nodes of `begin_anew`
/// keep the state they have. \throws PlacedError (kCheckpoint) naming node and value. [trainer]
[[nodiscard]] Standing restore(const Components& components, Training& training, const core::Checkpoint& checkpoint,
                               const std::set<std::string>& begin_anew);

}  // namespace tenon::engine
