// Transforms that learn from the training data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <core/graph/graph.hpp>
#include <engine/components.hpp>

namespace tenon::engine {

/// How they do.
struct FitOptions {
  std::function<bool()> ended = {};                     ///< Asked now and then: whether to break off.
  int64_t ranks = 1;                                    ///< That share an epoch's samples, each with its bad ones.
  std::function<void(const std::string&)> remark = {};  ///< Told, for people, what was left out; may be empty.
};

/// Lets the fitted transforms of a path's stream learn from its samples, each behind those before it, by ascending
/// index, as in epoch 0. Samples are made ahead on threads, which are given up with what they read where one does not
/// come back. Bad samples are left out where the path's loader tolerates some, up to as many as an epoch may have over
/// all ranks. When `ended` says so, nothing more is fitted. Datasets are open. \throws PlacedError (kData) naming node
/// and sample. [trainer]
void fit_transforms(const Components& components, const core::Path& path, uint64_t seed,
                    const FitOptions& options = {});

}  // namespace tenon::engine
