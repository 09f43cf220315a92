// Components with the weights of a checkpoint, for measuring, predicting and exporting without training.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include <core/storage/checkpoint.hpp>
#include <engine/components.hpp>
#include <engine/feed.hpp>
#include <engine/guarded.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::engine {

/// Some paths of a graph over loaded weights. What it is made from must outlive it. [trainer]
class Loaded {
 public:
  /// Makes the components, tries the networks of `paths` without memory, opens their datasets, and gives their models and
  /// transforms the values of the checkpoint, as well as the transforms of `also`. \throws PlacedError.
  Loaded(const core::Graph& graph, const core::Resolved& resolved, const core::Catalogue& catalogue,
         std::span<const core::Path* const> paths, const core::Checkpoint& checkpoint,
         const std::vector<std::string>& also = {});

  [[nodiscard]] c10::Device device() const noexcept { return device_; }
  [[nodiscard]] const Components& components() const noexcept { return components_; }
  [[nodiscard]] const Precision& precision() const noexcept { return precision_; }

  /// Of the path at that place of `paths`, connected as `ranks` say.
  [[nodiscard]] Feed& connect(std::size_t path, const Collectives& ranks);

 private:
  c10::Device device_;
  Components components_;
  GuardedPrecision guarded_;
  const Precision& precision_;
  std::vector<std::unique_ptr<Feed>> feeds_;
};

}  // namespace tenon::engine
