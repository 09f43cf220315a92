// transform:batch_mixup: each sample and the next one of its batch, added in shares that the batch has in common.
#include <utility>

#include <ATen/ATen.h>

#include <support/mixing.hpp>
#include <tenon/registration.hpp>

namespace tenon::batch_transforms {

/// x' = λ·x + (1 − λ)·x_next and likewise for the targets, with one λ ~ Beta(α, α) a batch (Zhang et al., "mixup: Beyond
/// empirical risk minimization", ICLR 2018).
class BatchMixup final : public BatchTransform {
 public:
  explicit BatchMixup(MixingParams params) : params_(std::move(params)) {}

  static Ports ports() { return mixing_ports(); }
  static std::vector<std::string> traits() { return {"deterministic", "random", "batch_coupled"}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] Spec spec(const Spec& in) const override { return mixing_spec(in, params_); }

  /// Two draws a batch: whether it is mixed, then λ.
  void apply_batch(Tensors& batch, Rng& random, const When& /*when*/) const override {
    const at::Tensor& image = batch.at(params_.image);
    const at::Tensor target = shares_of(batch.at(params_.label), params_.classes, image.scalar_type());
    const double share = random.chance(params_.probability) ? beta(random, params_.alpha) : 1;
    if (share == 1) return batch.set(params_.label, target);
    const at::Tensor mixed = at::lerp(partners(image), image, share);
    batch.set(params_.label, at::lerp(partners(target), target, share));
    batch.set(params_.image, mixed);
  }

 private:
  MixingParams params_;
};

TENON_COMPONENT(BatchMixup, MixingParams, "batch_mixup",
                "Adds to each image of a batch a share of the next one, and mixes their labels alike")

}  // namespace tenon::batch_transforms
