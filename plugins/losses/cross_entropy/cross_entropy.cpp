// loss:cross_entropy: softmax and negative log-likelihood, with smoothing, class weights and an ignored target.
#include <algorithm>
#include <string>
#include <vector>

#include <ATen/ATen.h>

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
  explicit CrossEntropy(CrossEntropyParams params) : params_(std::move(params)) {
    const std::vector<double>& weights = params_.class_weights;
    if (!weights.empty() && std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0; })) {
      throw Error(ErrorCode::kConfig, "class_weights are all 0: no target would count", "/class_weights");
    }
  }

  static Ports ports() {
    return {{Port::of("logits", {Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16}, {"N", "C", "*"})
                 .classes_of("target"),
             Port::of("target", {Dtype::kInt64}, {"N", "*"})},
            {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::Tensor weight(const Tensors& batch_in) override {
    const at::Tensor& target = batch_in.at("target");
    const at::Tensor counts = target.ne(params_.ignore_index);
    if (params_.class_weights.empty()) return counts.sum(at::kDouble);
    const auto classes = static_cast<int64_t>(params_.class_weights.size());
    check_targets(target, classes);
    return class_weights(target.options().dtype(at::kDouble)).take(target.where(counts, 0)).mul(counts).sum();
  }

  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const at::Tensor& logits = in.at("logits");
    const at::Tensor& target = in.at("target");
    const int64_t classes = logits.size(1);
    if (!params_.class_weights.empty() && static_cast<int64_t>(params_.class_weights.size()) != classes) {
      throw Error(ErrorCode::kConfig,
                  "class_weights has " + std::to_string(params_.class_weights.size()) + " elements, but logits have " +
                      std::to_string(classes) + " classes",
                  "/class_weights");
    }
    check_targets(target, classes);
    std::optional<at::Tensor> weights;
    if (!params_.class_weights.empty()) weights = class_weights(logits.options());
    return at::cross_entropy_loss(logits, target, weights, at::Reduction::Sum, params_.ignore_index,
                                  params_.label_smoothing);
  }

 private:
  /// Reads the values on the host alone: elsewhere that would wait for the device, and libtorch's own assertion serves.
  void check_targets(const at::Tensor& target, int64_t classes) const {
    if (!target.is_cpu()) return;
    const at::Tensor contiguous = target.contiguous();
    const auto* const values = contiguous.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < contiguous.numel(); ++i) {
      if (values[i] == params_.ignore_index || (values[i] >= 0 && values[i] < classes)) continue;
      throw Error(ErrorCode::kData, "target " + std::to_string(values[i]) + " is no class: there are " +
                                        std::to_string(classes) + " (0 to " + std::to_string(classes - 1) +
                                        "), and ignore_index is " + std::to_string(params_.ignore_index));
    }
  }

  /// The weights where and in which type they are needed. Two places, since weight() counts in float64.
  [[nodiscard]] const at::Tensor& class_weights(const at::TensorOptions& options) {
    at::Tensor& kept = options.dtype() == at::kDouble ? for_weight_ : for_sum_;
    if (!kept.defined() || kept.device() != options.device() || kept.dtype() != options.dtype()) {
      kept = at::tensor(params_.class_weights, at::TensorOptions(at::kDouble)).to(options.device(), options.dtype());
    }
    return kept;
  }

  CrossEntropyParams params_;
  at::Tensor for_weight_;
  at::Tensor for_sum_;
};

TENON_COMPONENT(CrossEntropy, CrossEntropyParams, "cross_entropy",
                "Cross entropy of logits and class indices, with label smoothing, class weights and an ignored target")

}  // namespace tenon::losses
