// The transforms behind a path's loader: batch in, batch out, on the device.
#pragma once

#include <cstdint>
#include <vector>

#include <engine/components.hpp>
#include <tenon/components/batch_transform.hpp>
#include <tenon/spec.hpp>
#include <tenon/tensors.hpp>

namespace tenon::engine {

/// Which batch, and when.
struct BatchKey {
  int64_t epoch = 0;
  int64_t epochs = 1;
  int64_t index = 0;  ///< In its epoch.
  int64_t rank = 0;
};

/// Those of one path, in order. [trainer]
class BatchStages {
 public:
  /// \throws PlacedError for a component that does not have the ability that its manifest promises.
  BatchStages(const Components& components, const core::Path& path, uint64_t seed);

  /// The fields behind them all, for fields that come from the loader; "N" is the first axis of each.
  /// \throws PlacedError
  [[nodiscard]] Spec spec(Spec fields);

  /// Of a batch that has samples. \throws PlacedError naming node, batch and cause: what a transform throws, and what
  /// contradicts its spec, in which floating fields may have another floating type.
  [[nodiscard]] Tensors apply(Tensors fields, const BatchKey& key) const;

 private:
  struct Stage {
    const core::Node* node;
    const BatchTransform* transform;
    uint64_t key;
    Spec spec;  // of what it gives
  };

  const Components& components_;
  uint64_t seed_;
  std::vector<Stage> stages_;
};

}  // namespace tenon::engine
