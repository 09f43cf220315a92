// loss:my_loss: Huber's loss, quadratic for small errors and linear for large ones, with a kernel for GPUs.
#include <algorithm>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <my_loss_huber.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/ports.hpp>
#include <tenon/registration.hpp>

namespace my_loss_plugin {
namespace {

// Declared once: reading, defaults, bounds, messages and the page of `tenon plugins show` follow from it.
struct MyLossParams {
  double delta = 1;

  TENON_PARAMS(MyLossParams, tenon::field(&MyLossParams::delta, "delta",
                                          "Error beyond which the loss is linear, in the target's unit")
                                 .above(0))
};

/// The sum of all elements on a GPU. The kernel gives the slope together with the value, and backward needs no other.
class HuberOnGpu final : public torch::autograd::Function<HuberOnGpu> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& prediction,
                            const at::Tensor& target, double delta) {
    const c10::DeviceGuard device(prediction.device());
    // The stream that libtorch works on: the kernel waits for what was queued there, and what comes next waits for it.
    const c10::impl::VirtualGuardImpl cuda(c10::DeviceType::CUDA);
    void* const stream = cuda.getStream(prediction.device()).native_handle();
    at::Tensor value = at::empty_like(prediction);
    at::Tensor slope = at::empty_like(prediction);
    const auto run = [&]<class T>(T /*type*/) {
      huber(prediction.const_data_ptr<T>(), target.const_data_ptr<T>(), value.mutable_data_ptr<T>(),
            slope.mutable_data_ptr<T>(), prediction.numel(), delta, stream);
    };
    if (prediction.scalar_type() == at::kDouble) {
      run(double{});
    } else {
      run(float{});
    }
    context->save_for_backward({slope});
    return value.sum();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    return {context->get_saved_variables().front() * grads.front(), {}, {}};
  }
};

/// The plain reference, which autograd derives.
at::Tensor huber_on_cpu(const at::Tensor& prediction, const at::Tensor& target, double delta) {
  const at::Tensor error = prediction.sub(target).abs();
  return at::where(error.le(delta), error.square().mul(0.5), error.sub(0.5 * delta).mul(delta)).sum();
}

/// For errors e = |prediction − target|: h(e) = e²/2 where e <= delta, else delta·(e − delta/2). The sum over samples
/// of the mean of h over a sample's elements; the weight is the number of samples. No gradient goes to the target.
class MyLoss final : public tenon::Loss {
 public:
  explicit MyLoss(const MyLossParams& params) : params_(params) {}

  // Pipelines are checked against these rules before any code of the plugin runs. "N" is the batch, "*" any axes. The
  // plugin works without a GPU too; one that does not adds the trait "needs_cuda".
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
    const at::Tensor prediction = in.at("prediction").to(type).contiguous();
    const at::Tensor target = in.at("target").detach().to(type).contiguous();
    const int64_t elements = prediction.numel() / std::max<int64_t>(prediction.size(0), 1);
    const at::Tensor sum = prediction.is_cuda() ? HuberOnGpu::apply(prediction, target, params_.delta)
                                                : huber_on_cpu(prediction, target, params_.delta);
    return sum.div(std::max<int64_t>(elements, 1));
  }

 private:
  MyLossParams params_;
};

}  // namespace

TENON_COMPONENT(MyLoss, MyLossParams, "my_loss", "Huber's loss, with a kernel for GPUs")

}  // namespace my_loss_plugin
