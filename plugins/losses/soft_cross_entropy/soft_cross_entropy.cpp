// loss:soft_cross_entropy: for targets that share a sample out among the classes, as mixup and cutmix make them.
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/loss.hpp>
#include <tenon/ports.hpp>
#include <tenon/registration.hpp>

namespace tenon::losses {

struct SoftCrossEntropyParams {
  double label_smoothing = 0;

  TENON_PARAMS(SoftCrossEntropyParams, field(&SoftCrossEntropyParams::label_smoothing, "label_smoothing",
                                             "Share of the target that is spread evenly over all classes")
                                           .min(0)
                                           .below(1))
};

/// For logits x [N, C], targets t [N, C] and smoothing s: sum = −Σ_n Σ_c ((1 − s)·t_nc + s/C)·log softmax(x_n)_c,
/// weight = N. With one-hot targets it is cross_entropy. sum / weight is libtorch's mean.
class SoftCrossEntropy final : public Loss {
 public:
  explicit SoftCrossEntropy(const SoftCrossEntropyParams& params) : smoothing_(params.label_smoothing) {}

  static Ports ports() {
    const std::vector<Dtype> floats{Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16};
    return {{Port::of("logits", floats, {"N", "C"}), Port::of("target", floats, {"N", "C"})}, {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::Tensor weight(const Tensors& batch_in) override {
    return at::full({}, batch_in.at("target").size(0), batch_in.at("target").options().dtype(at::kDouble));
  }

  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const at::Tensor& logits = in.at("logits");
    const at::Tensor& target = in.at("target");
    if (!logits.sizes().equals(target.sizes())) {
      throw Error(ErrorCode::kConfig, "the target has " + std::to_string(target.size(-1)) +
                                          " classes, but logits have " + std::to_string(logits.size(-1)));
    }
    return at::cross_entropy_loss(logits, target.to(logits.scalar_type()), {}, at::Reduction::Sum, -100, smoothing_);
  }

 private:
  double smoothing_;
};

TENON_COMPONENT(SoftCrossEntropy, SoftCrossEntropyParams, "soft_cross_entropy",
                "Cross entropy against shares of the classes, as mixup and cutmix make them")

}  // namespace tenon::losses
