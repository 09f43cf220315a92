// loss:cross_entropy: softmax and negative log-likelihood, with smoothing, class weights and an ignored target.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include <support/class_targets.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/ports.hpp>
#include <tenon/registration.hpp>

namespace tenon::losses {

struct CrossEntropyParams {
  double label_smoothing = 0;
  std::vector<double> class_weights;
  int64_t ignore_index = -100;

  TENON_PARAMS(CrossEntropyParams,
               field(&CrossEntropyParams::label_smoothing, "label_smoothing",
                     "Share of the target's probability that is spread evenly over all classes")
                   .min(0)
                   .below(1),
               field(&CrossEntropyParams::class_weights, "class_weights",
                     "Weight of each class, in their order; an empty list weighs them alike")
                   .min(0),
               field(&CrossEntropyParams::ignore_index, "ignore_index", "Target that does not count"))
};

/// For logits x [N, C, …], targets y [N, …], class weights w (1 when none are given) and smoothing s, over the targets
/// that count: sum = Σ (1 − s)·w_y·(−log p_y) + s/C·Σ_c w_c·(−log p_c) with p = softmax(x) over C, weight = Σ w_y
/// (Szegedy et al., "Rethinking the Inception architecture", CVPR 2016). sum / weight is libtorch's mean.
class CrossEntropy final : public Loss {
 public:
  explicit CrossEntropy(CrossEntropyParams params)
      : smoothing_(params.label_smoothing),
        targets_(std::move(params.class_weights), params.ignore_index, "ignore_index") {}

  static Ports ports() {
    return {{Port::of("logits", {Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16}, {"N", "C", "*"})
                 .classes_of("target"),
             Port::of("target", {Dtype::kInt64}, {"N", "*"})},
            {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::Tensor weight(const Tensors& batch_in) override { return targets_.total(batch_in.at("target")); }

  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const at::Tensor& logits = in.at("logits");
    const at::Tensor& target = in.at("target");
    const int64_t classes = logits.size(1);
    const std::optional<at::Tensor> weights = targets_.weights(logits, classes);
    targets_.check(target, classes);
    return at::cross_entropy_loss(logits, target, weights, at::Reduction::Sum, targets_.ignored(), smoothing_);
  }

 private:
  double smoothing_;
  ClassTargets targets_;
};

TENON_COMPONENT(CrossEntropy, CrossEntropyParams, "cross_entropy",
                "Cross entropy of logits and class indices, with label smoothing, class weights and an ignored target")

}  // namespace tenon::losses
