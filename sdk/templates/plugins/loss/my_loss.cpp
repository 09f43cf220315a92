// loss:my_loss: Huber's loss, quadratic for small errors and linear for large ones.
#include <algorithm>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/loss.hpp>
#include <tenon/ports.hpp>
#include <tenon/registration.hpp>

namespace {

// Declared once: reading, defaults, bounds, messages and the page of `tenon plugins show` follow from it.
struct MyLossParams {
  double delta = 1;

  TENON_PARAMS(MyLossParams, tenon::field(&MyLossParams::delta, "delta",
                                          "Error beyond which the loss is linear, in the target's unit")
                                 .above(0))
};

/// For errors e = |prediction − target|: h(e) = e²/2 where e <= delta, else delta·(e − delta/2). The sum over samples
/// of the mean of h over a sample's elements; the weight is the number of samples.
class MyLoss final : public tenon::Loss {
 public:
  explicit MyLoss(const MyLossParams& params) : params_(params) {}

  // Pipelines are checked against these rules before any code of the plugin runs. "N" is the batch, "*" any axes.
  static tenon::Ports ports() {
    const std::vector<tenon::Dtype> floats{tenon::Dtype::kFloat32, tenon::Dtype::kFloat64, tenon::Dtype::kFloat16,
                                           tenon::Dtype::kBfloat16};
    return {.in = {tenon::Port::of("prediction", floats, {"N", "*"}).in_units_of("target"),
                   tenon::Port::of("target", floats, {"N", "*"})},
            .out = {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  // Undefined: the number of samples. The engine divides by it, over all micro-batches and ranks; a loss never does.
  [[nodiscard]] at::Tensor weight(const tenon::Tensors& /*batch_in*/) override { return {}; }

  [[nodiscard]] at::Tensor sum(const tenon::Tensors& in, tenon::StepContext& /*context*/) override {
    if (in.at("prediction").sizes() != in.at("target").sizes()) {
      throw tenon::Error(tenon::ErrorCode::kConfig,
                         "prediction and target differ in shape: wire outputs and targets of "
                         "one shape");
    }
    // 16 bits do not hold a sum over a batch.
    const at::ScalarType type = at::promote_types(in.at("prediction").scalar_type(), at::kFloat);
    const at::Tensor prediction = in.at("prediction").to(type);
    const at::Tensor error = prediction.sub(in.at("target").to(type)).abs();
    const at::Tensor square = error.square().mul(0.5);
    const at::Tensor line = error.sub(0.5 * params_.delta).mul(params_.delta);
    const int64_t elements = error.numel() / std::max<int64_t>(error.size(0), 1);
    return at::where(error.le(params_.delta), square, line).sum().div(std::max<int64_t>(elements, 1));
  }

 private:
  MyLossParams params_;
};

}  // namespace

TENON_COMPONENT(MyLoss, MyLossParams, "my_loss", "Huber's loss: quadratic for small errors, linear for large ones")
