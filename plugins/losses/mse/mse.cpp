// loss:mse: mean squared error, a sample at a time, with weights of samples.
#include <algorithm>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <support/sample_weight.hpp>
#include <support/shapes.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/ports.hpp>
#include <tenon/registration.hpp>

namespace tenon::losses {

/// For predictions p and targets t [N, …] of one shape, or [N] against [N, 1], and weights w [N] (1 when none are wired):
/// sum = Σₙ wₙ·mean((pₙ − tₙ)²), the mean over the elements of sample n; weight = Σₙ wₙ. Without weights, sum / weight is
/// libtorch's mean. Taken in the prediction's type, but for types of 16 bits in float32: a sum over a batch soon leaves
/// their range.
class Mse final : public Loss {
 public:
  explicit Mse(const NoParams& /*params*/) {}

  static Ports ports() {
    const std::vector<Dtype> floats{Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16};
    return {{Port::of("prediction", floats, {"N", "*"}).in_units_of("target"), Port::of("target", floats, {"N", "*"}),
             SampleWeight::port()},
            {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::Tensor weight(const Tensors& batch_in) override { return weight_.total(batch_in); }

  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const at::ScalarType type = at::promote_types(in.at("prediction").scalar_type(), at::kFloat);
    const at::Tensor prediction = in.at("prediction").to(type);
    const at::Tensor* const weight = weight_.in(in, "prediction", prediction);
    const at::Tensor target = in_shape_of(prediction, "prediction", in.at("target")).to(type);
    const int64_t samples = prediction.size(0);
    const int64_t elements = prediction.numel() / std::max<int64_t>(samples, 1);
    if (weight == nullptr) {
      return at::mse_loss(prediction, target, at::Reduction::Sum) / static_cast<double>(elements);
    }
    const at::Tensor squares = at::mse_loss(prediction, target, at::Reduction::None);
    return squares.reshape({samples, elements}).mean(1).mul(weight->to(type)).sum();
  }

 private:
  SampleWeight weight_;
};

TENON_COMPONENT(Mse, NoParams, "mse", "Mean squared error of predictions, with optional weights of samples")

}  // namespace tenon::losses
