// From a checkpoint back to the state of everything behind its step.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <ATen/core/TensorBody.h>

#include <core/storage/checkpoint.hpp>
#include <engine/components.hpp>
#include <engine/training.hpp>

namespace tenon::engine {

/// What a checkpoint says beyond the state of components.
struct Standing {
  /// Validations by the names of their paths that are due at its step and not done: they come first when a run goes on.
  std::vector<std::string> pending;
  std::string stopped;   ///< Why training has ended; empty when it goes on.
  bool interim = false;  ///< Written only because the run was interrupted.
};

/// Gives models, optimizers and all other components their state back, and training its position. Nodes of `begin_anew`
/// keep the state they have. \throws PlacedError (kCheckpoint) naming node and value. [trainer]
[[nodiscard]] Standing restore(const Components& components, Training& training, const core::Checkpoint& checkpoint,
                               const std::set<std::string>& begin_anew);

/// Puts the values of all models and transforms into the memory that they have, and nothing else: for looking at the
/// weights of a run whose training was another. \throws PlacedError (kCheckpoint). [trainer]
void restore_values(const Components& components, const core::Checkpoint& checkpoint);

/// Gives the models and transforms of one path their values, and nothing else: for measuring and predicting without
/// training. Also the transforms that undo a scaling on it, and those of `also`. Models get memory as `options` say.
/// \throws PlacedError (kCheckpoint). [trainer]
void restore_path(const Components& components, const core::Path& path, const core::Checkpoint& checkpoint,
                  at::TensorOptions options, const std::vector<std::string>& also = {});

}  // namespace tenon::engine
