// An optimizer that keeps state: Lion (Chen et al., "Symbolic discovery of optimization algorithms", NeurIPS 2023).
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/optimizer.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/registration.hpp>

namespace {

struct LionParams {
  double lr = 1e-4;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.99;

  TENON_PARAMS(
      LionParams,
      tenon::field(&LionParams::lr, "lr", "Learning rate: how far each element moves a step").above(0).schedulable(),
      tenon::field(&LionParams::weight_decay, "weight_decay", "Share of a parameter that decays a step, times lr")
          .min(0)
          .schedulable(),
      tenon::field(&LionParams::beta1, "beta1", "Share of the running mean in the direction of a step").min(0).below(1),
      tenon::field(&LionParams::beta2, "beta2", "Decay of the running mean of gradients, a step").min(0).below(1))
};

/// Each step of a parameter p with gradient g (algorithm 2 of the paper, arXiv:2302.06675):
///   p ← p·(1 − lr·weight_decay) − lr·sign(beta1·m + (1 − beta1)·g),  m ← beta2·m + (1 − beta2)·g.
/// State by parameter name: exp_avg/ (m, from 0 on).
class Lion final : public tenon::Optimizer {
 public:
  explicit Lion(const LionParams& params) : params_(params) {}

  static std::vector<std::string> traits() { return {"deterministic", "stateful"}; }
  static std::vector<std::string> abilities() { return {kDeviceSkip}; }

  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kDeviceSkip ? static_cast<tenon::Optimizer*>(this) : nullptr;
  }

  void attach(std::span<const tenon::ParamGroup> groups) override {
    for (const tenon::ParamGroup& group : groups) slots_.push_back({&group, at::zeros_like(group.flat_param)});
  }

  void step(const tenon::Update& update) override {
    for (const Slot& slot : slots_) {
      const at::Tensor& param = slot.group->flat_param;
      at::Tensor grad = slot.group->flat_grad;
      if (update.grad_scale.defined()) grad = grad / update.grad_scale;
      const at::Tensor& lr = slot.group->hyper("lr").tensor;
      const at::Tensor& weight_decay = slot.group->hyper("weight_decay").tensor;

      const at::Tensor direction = (slot.exp_avg * params_.beta1 + grad * (1 - params_.beta1)).sign_();
      const at::Tensor moved = param * (1 - lr * weight_decay) - direction * lr;
      const at::Tensor mean = slot.exp_avg * params_.beta2 + grad * (1 - params_.beta2);
      keep(param, moved, update.found_inf);
      keep(slot.exp_avg, mean, update.found_inf);
    }
  }

  void state(tenon::StateIo& io) override {
    for (const Slot& slot : slots_) {
      for (std::size_t i = 0; i < slot.group->names.size(); ++i) {
        at::Tensor exp_avg = slot.group->view_like(slot.exp_avg, i);
        tenon::nn::io(io, "exp_avg/" + slot.group->names[i], exp_avg);
      }
    }
  }

 private:
  struct Slot {
    const tenon::ParamGroup* group;
    at::Tensor exp_avg;  // laid out like the group's flat_param
  };

  /// Writes `next` in place, and nothing at all in a step whose gradients are not finite: decided on the device.
  static void keep(const at::Tensor& present, const at::Tensor& next, const at::Tensor& found_inf) {
    present.copy_(found_inf.defined() ? at::where(found_inf.ne(0), present, next) : next);
  }

  LionParams params_;
  std::vector<Slot> slots_;
};

}  // namespace

TENON_COMPONENT(Lion, LionParams, "lion", "Moves each element by the learning rate, in the direction of a running mean")
