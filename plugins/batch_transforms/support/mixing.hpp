// What mixup and cutmix have in common: the share of two samples, the partner of each, and targets that are mixed.
#pragma once

#include <cstdint>
#include <string>

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
  double probability = 1;

  TENON_PARAMS(
      MixingParams, field(&MixingParams::image, "image", "Field that is mixed: [N, C, H, W], floating"),
      field(&MixingParams::label, "label",
            "Class numbers, int64 [N], which become shares of the classes, float32 [N, classes]; give the loss "
            "that takes them: soft_cross_entropy"),
      field(&MixingParams::classes, "classes", "Number of classes").min(2).required(),
      field(&MixingParams::alpha, "alpha",
            "Both parameters of the beta distribution that shares are drawn from; 1: evenly from 0 to 1")
          .above(0),
      field(&MixingParams::probability, "probability", "Share of batches that are mixed").min(0).max(1))
};

/// Ports of both: the image as it comes, the label as shares of the classes.
[[nodiscard]] Ports mixing_ports();

/// \throws Error (kConfig) for fields of another kind.
[[nodiscard]] Spec mixing_spec(const Spec& in, const MixingParams& params);

/// From the beta distribution with both parameters `alpha` (Cheng, "Generating beta variates with nonintegral shape
/// parameters", CACM 1978 for alpha > 1; Jöhnk 1964 otherwise). In [0, 1].
[[nodiscard]] double beta(Rng& random, double alpha);

/// The next sample of the batch, the first one behind the last.
[[nodiscard]] at::Tensor partners(const at::Tensor& batch);

/// One-hot rows. \throws Error (kData) for a label that is no class, where the labels are on the host.
[[nodiscard]] at::Tensor shares_of(const at::Tensor& labels, int64_t classes, at::ScalarType type);

}  // namespace tenon::batch_transforms
