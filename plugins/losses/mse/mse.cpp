// loss:mse: mean squared error, a sample at a time, with weights of samples.
#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/loss.hpp>
#include <tenon/ports.hpp>
#include <tenon/registration.hpp>

namespace tenon::losses {

/// For predictions p and targets t [N, …] of one shape and weights w [N] (1 when none are wired):
/// sum = Σₙ wₙ·mean((pₙ − tₙ)²), the mean over the elements of sample n; weight = Σₙ wₙ. Without weights, sum / weight is
/// libtorch's mean. Taken in the prediction's type, but for types of 16 bits in float32: a sum over a batch soon leaves
/// their range.
class Mse final : public Loss {
 public:
  explicit Mse(const NoParams& /*params*/) {}

  static Ports ports() {
    const std::vector<Dtype> floats{Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16};
    Port weight = Port::of("weight", floats, {"N"});
    weight.optional = true;
    return {{Port::of("prediction", floats, {"N", "*"}), Port::of("target", floats, {"N", "*"}), weight}, {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::Tensor weight(const Tensors& batch_in) override {
    const at::Tensor* const weight = batch_in.find("weight");
    weight_in_batch_ = weight != nullptr;
    require_known_weight();
    if (weight != nullptr) {
      check_weight(*weight);
      return weight->sum(at::kDouble);
    }
    if (batch_in.empty()) {
      throw Error(
          ErrorCode::kConfig,
          "the number of samples has to be known before the forward pass: wire \"target\" to a field of the batch");
    }
    const at::Tensor& field = batch_in.begin()->second;
    return at::full({}, field.size(0), field.options().dtype(at::kDouble));
  }

  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const at::Tensor& prediction = in.at("prediction");
    const at::Tensor& target = in.at("target");
    const at::Tensor* const weight = in.find("weight");
    weight_in_sum_ = weight != nullptr;
    require_known_weight();
    if (!prediction.sizes().equals(target.sizes())) {
      throw Error(ErrorCode::kConfig, "prediction " + spelled(prediction) + " and target " + spelled(target) +
                                          " must have one shape: reshape one of them");
    }
    const at::ScalarType type = at::promote_types(prediction.scalar_type(), at::kFloat);
    const int64_t samples = prediction.size(0);
    const int64_t elements = prediction.numel() / std::max<int64_t>(samples, 1);
    if (weight == nullptr) {
      return at::mse_loss(prediction.to(type), target.to(type), at::Reduction::Sum) / static_cast<double>(elements);
    }
    if (weight->dim() != 1 || weight->size(0) != samples) {
      throw Error(
          ErrorCode::kConfig,
          "weight " + spelled(*weight) + " must have one element for each sample of prediction " + spelled(prediction));
    }
    const at::Tensor squares = at::mse_loss(prediction.to(type), target.to(type), at::Reduction::None);
    return squares.reshape({samples, elements}).mean(1).mul(weight->to(type)).sum();
  }

 private:
  static std::string spelled(const at::Tensor& tensor) {
    std::ostringstream text;
    text << tensor.sizes();
    return text.str();
  }

  /// weight() gets fields of the batch alone: a weight from elsewhere would count in the sum and not in the divisor.
  void require_known_weight() const {
    if (!weight_in_batch_ || !weight_in_sum_ || *weight_in_batch_ == *weight_in_sum_) return;
    throw Error(ErrorCode::kConfig,
                "weights have to be known before the forward pass: wire \"weight\" to a field of the batch");
  }

  /// Reads the values on the host alone: elsewhere that would wait for the device.
  static void check_weight(const at::Tensor& weight) {
    if (!weight.is_cpu()) return;
    const at::Tensor values = weight.to(at::kDouble).contiguous();
    for (int64_t i = 0; i < values.numel(); ++i) {
      const double value = values.const_data_ptr<double>()[i];
      if (std::isfinite(value) && value >= 0) continue;
      throw Error(ErrorCode::kData, "weight " + std::to_string(value) + " of sample " + std::to_string(i) +
                                        " in the batch must be finite and at least 0");
    }
  }

  std::optional<bool> weight_in_batch_;  // as the last call of weight() had it
  std::optional<bool> weight_in_sum_;    // as the last call of sum() had it
};

TENON_COMPONENT(Mse, NoParams, "mse", "Mean squared error of predictions, with optional weights of samples")

}  // namespace tenon::losses
