// loss:pixel_cross_entropy: cross entropy of each pixel's logits with a mask of classes.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include <support/class_targets.hpp>
#include <support/mask.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/registration.hpp>

namespace tenon::losses {

struct PixelCrossEntropyParams {
  std::vector<double> class_weights;
  int64_t ignore = 255;

  TENON_PARAMS(PixelCrossEntropyParams,
               field(&PixelCrossEntropyParams::class_weights, "class_weights",
                     "Weight of each class, in their order; an empty list weighs them alike")
                   .min(0),
               field(&PixelCrossEntropyParams::ignore, "ignore", "Value of pixels in the mask that do not count"))
};

/// For logits x [N, C, H, W], a mask y [N, H, W] of classes and class weights w (1 when none are given), over the pixels
/// that count: sum = Σ w_y·(−log softmax(x)_y), weight = Σ w_y. sum / weight is libtorch's mean.
class PixelCrossEntropy final : public Loss {
 public:
  explicit PixelCrossEntropy(PixelCrossEntropyParams params)
      : targets_(std::move(params.class_weights), params.ignore, "ignore") {}

  static Ports ports() { return {{pixel_logits_port(), mask_port()}, {}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::Tensor weight(const Tensors& batch_in) override {
    return targets_.total(batch_in.at("target").to(at::kLong));
  }

  /// By rows of pixels: over images libtorch has no deterministic kernel on CUDA.
  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const auto [logits, mask] = pixels(in);
    const int64_t classes = logits.size(1);
    const std::optional<at::Tensor> weights = targets_.weights(logits, classes);
    targets_.check(mask, classes);
    const at::Tensor rows = logits.permute({0, 2, 3, 1}).reshape({mask.numel(), classes});
    return at::cross_entropy_loss(rows, mask.reshape({-1}), weights, at::Reduction::Sum, targets_.ignored());
  }

 private:
  ClassTargets targets_;
};

TENON_COMPONENT(PixelCrossEntropy, PixelCrossEntropyParams, "pixel_cross_entropy",
                "Cross entropy of logits and a mask of classes, with class weights and an ignored value")

}  // namespace tenon::losses
