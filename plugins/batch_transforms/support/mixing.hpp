// What mixup and cutmix have in common: the share of two samples, the partner of each, and targets that are mixed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <tenon/components/batch_transform.hpp>
#include <tenon/params.hpp>
#include <tenon/ports.hpp>

namespace tenon::batch_transforms {

struct MixingParams {
  std::string image = "image";
  std::string label = "label";
  int64_t classes = 0;
  double alpha = 1;
  double p = 1;
  int64_t grow = 0;

  TENON_PARAMS(
      MixingParams, field(&MixingParams::image, "image", "Field that is mixed: [N, C, H, W], floating"),
      field(&MixingParams::label, "label",
            "Class numbers, int64 [N], which become shares of the classes, float32 [N, classes]; give the loss "
            "that takes them: soft_cross_entropy"),
      field(&MixingParams::classes, "classes", "Number of classes").min(2).required(),
      field(&MixingParams::alpha, "alpha",
            "Both parameters of the beta distribution that shares are drawn from; 1: evenly from 0 to 1")
          .min(0.001)
          .max(1000),
      field(&MixingParams::p, "p", "How often a batch is mixed").min(0).max(1),
      field(&MixingParams::grow, "grow", "Epochs over which p rises from nothing to what it says; 0: full at once")
          .min(0))
};

/// A transform that mixes each sample of a batch with the next one, the last with the first, in shares that the batch
/// has in common.
class Mixing : public BatchTransform {
 public:
  static Ports ports();
  static std::vector<std::string> traits() { return {"deterministic", "random", "batch_coupled"}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  explicit Mixing(MixingParams params) : params_(std::move(params)) {}

  /// The image as it comes, the label as shares of the classes. \throws Error (kConfig) for fields of another kind.
  [[nodiscard]] Spec spec(const Spec& in) const override;

  /// A draw whether, rarer while the strength grows, then those of λ ~ Beta(α, α), then those of mix().
  void apply_batch(Tensors& batch, Rng& random, const When& when) const override;

 protected:
  struct Mixed {
    at::Tensor image;
    double share = 1;  ///< Of the sample itself, as it came to be: labels get the same.
  };

  /// Mixes images [N, C, H, W], of which each keeps `share`.
  [[nodiscard]] virtual Mixed mix(const at::Tensor& image, double share, Rng& random) const = 0;

  /// For each sample the one that it is mixed with.
  [[nodiscard]] static at::Tensor partners(const at::Tensor& batch);

 private:
  MixingParams params_;
};

}  // namespace tenon::batch_transforms
