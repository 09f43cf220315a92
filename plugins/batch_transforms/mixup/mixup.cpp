// transform:batch_mixup: each sample and the next one of its batch, added in shares that the batch has in common.
#include <ATen/ATen.h>

#include <support/mixing.hpp>
#include <tenon/registration.hpp>

namespace tenon::batch_transforms {

/// x' = λ·x + (1 − λ)·x_next and likewise for the targets, with one λ ~ Beta(α, α) a batch (Zhang et al., "mixup: Beyond
/// empirical risk minimization", ICLR 2018).
class BatchMixup final : public Mixing {
 public:
  using Mixing::Mixing;

 protected:
  /// No draw.
  [[nodiscard]] Mixed mix(const at::Tensor& image, double share, Rng& /*random*/) const override {
    return {at::lerp(partners(image), image, share), share};
  }
};

TENON_COMPONENT(BatchMixup, MixingParams, "batch_mixup",
                "Adds to each image of a batch a share of the next one, and mixes their labels alike")

}  // namespace tenon::batch_transforms
