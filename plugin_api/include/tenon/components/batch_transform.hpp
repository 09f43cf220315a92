// Transforms of whole batches, on the device: what stands behind the loader of a stream.
#pragma once

#include <string_view>

#include <tenon/components/transform.hpp>
#include <tenon/random.hpp>
#include <tenon/tensors.hpp>

namespace tenon {

/// A transform that works on batches, such as mixup. It stands behind a loader: `"in"` names the loader, or another of
/// its kind, and "fit.data" names the last one. Its ports and spec() have the batch axis "N" first, and it calls
/// `static std::vector<std::string> abilities()` with kAbility. It belongs to a plugin over ATen.
///
/// Samples of one batch meet here, so results depend on the size of a batch, and on how ranks share it.
class BatchTransform : public Transform {
 public:
  static constexpr const char* kAbility = "tenon.batch_transform/1";

  /// Replaces or adds fields of the batch, on the device where they are, without gradients; tensors that it was given
  /// are not changed in place. A batch may be short, of one sample even, and is never empty. `random` is keyed by (seed,
  /// node, epoch, batch, rank): its numbers come from the host, so that nothing waits for the device. \throws Error
  /// (kData). [trainer]
  virtual void apply_batch(Tensors& batch, Rng& random, const When& when) const = 0;

  /// Never called: the host puts it behind a loader alone.
  void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const final {
    throw Error(ErrorCode::kPlugin, "works on batches, not on samples");
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? this : nullptr;
  }
};

}  // namespace tenon
