// loss:bce: binary cross entropy of logits, with a target from a port or the same for all.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <support/sample_weight.hpp>
#include <support/shapes.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/ports.hpp>
#include <tenon/registration.hpp>

namespace tenon::losses {

struct BceParams {
  std::optional<double> target;
  double pos_weight = 1;

  TENON_PARAMS(
      BceParams,
      field(&BceParams::target, "target",
            "Probability that is aimed at for all logits alike, as in adversarial training, or \"port\": each its "
            "own, from the port \"target\"")
          .min(0)
          .max(1)
          .word("port"),
      field(&BceParams::pos_weight, "pos_weight",
            "Weight of the positive term: above 1 where positive targets are rare")
          .above(0))
};

/// For logits x and targets t in 0..1 [N, …] of one shape, or [N] against [N, 1], weights w [N] (1 when none are wired)
/// and p = pos_weight: sum = Σₙ wₙ·mean(−p·t·log σ(x) − (1 − t)·log(1 − σ(x))), the mean over the elements of sample n;
/// weight = Σₙ wₙ. Without weights, sum / weight is libtorch's mean. Taken in the logits' type, but for types of 16 bits
/// in float32.
class Bce final : public Loss {
 public:
  explicit Bce(const BceParams& params) : params_(params) {}

  static Ports ports() {
    const std::vector<Dtype> floats{Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16};
    std::vector<Dtype> targets = floats;
    targets.insert(targets.end(),
                   {Dtype::kBool, Dtype::kUint8, Dtype::kInt8, Dtype::kInt16, Dtype::kInt32, Dtype::kInt64});
    Port target = Port::of("target", targets, {"N", "*"});
    target.optional = true;
    return {{Port::of("logits", floats, {"N", "*"}).classes_of("target"), target, SampleWeight::port()}, {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::Tensor weight(const Tensors& batch_in) override { return weight_.total(batch_in); }

  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const at::ScalarType type = at::promote_types(in.at("logits").scalar_type(), at::kFloat);
    const at::Tensor logits = in.at("logits").to(type);
    const at::Tensor* const weight = weight_.in(in, "logits", logits);
    const at::Tensor target = target_of(in, logits);
    // −log σ(x) = softplus(−x) and −log(1 − σ(x)) = x + softplus(−x). Above the threshold softplus is the identity, which
    // from 40 on it is in float64 too. libtorch's own function has no kernel for planning.
    const at::Tensor softplus = at::softplus(-logits, /*beta=*/1, /*threshold=*/40);
    const at::Tensor each = (1 - target) * logits + (1 + (params_.pos_weight - 1) * target) * softplus;
    const int64_t samples = logits.size(0);
    const int64_t elements = logits.numel() / std::max<int64_t>(samples, 1);
    if (weight == nullptr) return each.sum() / static_cast<double>(elements);
    return each.reshape({samples, elements}).mean(1).mul(weight->to(type)).sum();
  }

 private:
  [[nodiscard]] at::Tensor target_of(const Tensors& in, const at::Tensor& logits) const {
    const at::Tensor* const wired = in.find("target");
    if (params_.target) {
      if (wired == nullptr) return at::full_like(logits, *params_.target);
      throw Error(ErrorCode::kConfig,
                  "the target is a number, but the port \"target\" is wired too: remove one of them, or write \"port\"",
                  "/target");
    }
    if (wired == nullptr) {
      throw Error(ErrorCode::kConfig,
                  "there is no target: wire the port \"target\", or give \"target\" as a number from 0 to 1",
                  "/target");
    }
    check_values(*wired);
    return in_shape_of(logits, "logits", *wired).to(logits.scalar_type());
  }

  /// Reads the values on the host alone: elsewhere that would wait for the device.
  static void check_values(const at::Tensor& target) {
    if (!target.is_cpu()) return;
    const at::Tensor values = target.to(at::kDouble).contiguous();
    for (int64_t i = 0; i < values.numel(); ++i) {
      const double value = values.const_data_ptr<double>()[i];
      if (value >= 0 && value <= 1) continue;
      const int64_t sample = i / std::max<int64_t>(values.numel() / values.size(0), 1);
      throw Error(ErrorCode::kData, "target " + std::to_string(value) + " of sample " + std::to_string(sample) +
                                        " in the batch must lie between 0 and 1");
    }
  }

  BceParams params_;
  SampleWeight weight_;
};

TENON_COMPONENT(Bce, BceParams, "bce",
                "Binary cross entropy of logits, with a constant target or one each, and optional weights of samples")

}  // namespace tenon::losses
