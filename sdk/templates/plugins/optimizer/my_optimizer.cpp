// optimizer:my_optimizer: gradient descent with momentum (Polyak, "Some methods of speeding up the convergence of
// iteration methods", 1964).
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/optimizer.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/registration.hpp>

namespace {

struct MyOptimizerParams {
  double lr = 0.05;
  double momentum = 0.9;

  TENON_PARAMS(MyOptimizerParams,
               tenon::field(&MyOptimizerParams::lr, "lr", "Learning rate: how far a parameter moves along its momentum")
                   .above(0)
                   .schedulable(),
               tenon::field(&MyOptimizerParams::momentum, "momentum", "Share of the momentum that stays, a step")
                   .min(0)
                   .below(1))
};

/// Each step of a parameter p with gradient g: m ← momentum·m + g, p ← p − lr·m.
/// State by parameter name: momentum/ (m, from 0 on).
class MyOptimizer final : public tenon::Optimizer {
 public:
  explicit MyOptimizer(const MyOptimizerParams& params) : params_(params) {}

  static std::vector<std::string> traits() { return {"deterministic", "stateful"}; }
  static std::vector<std::string> abilities() { return {kDeviceSkip}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kDeviceSkip ? static_cast<tenon::Optimizer*>(this) : nullptr;
  }

  void attach(std::span<const tenon::ParamGroup> groups) override {
    for (const tenon::ParamGroup& group : groups) slots_.push_back({&group, at::zeros_like(group.flat_param)});
  }

  void step(const tenon::Update& update) override {
    for (const Slot& slot : slots_) {
      at::Tensor grad = slot.group->flat_grad;
      if (update.grad_scale.defined()) grad = grad / update.grad_scale;
      const at::Tensor momentum = slot.momentum * params_.momentum + grad;
      const at::Tensor param = slot.group->flat_param - momentum * slot.group->hyper("lr").tensor;
      keep(slot.momentum, momentum, update.found_inf);
      keep(slot.group->flat_param, param, update.found_inf);
    }
  }

  void state(tenon::StateIo& io) override {
    for (const Slot& slot : slots_) {
      for (std::size_t i = 0; i < slot.group->names.size(); ++i) {
        at::Tensor momentum = slot.group->view_like(slot.momentum, i);
        tenon::nn::io(io, "momentum/" + slot.group->names[i], momentum);
      }
    }
  }

 private:
  struct Slot {
    const tenon::ParamGroup* group;
    at::Tensor momentum;  // laid out like the group's flat_param
  };

  /// Writes `next` in place, and nothing at all in a step whose gradients are not finite: decided on the device, so
  /// that nobody waits for it.
  static void keep(const at::Tensor& present, const at::Tensor& next, const at::Tensor& found_inf) {
    present.copy_(found_inf.defined() ? at::where(found_inf.ne(0), present, next) : next);
  }

  MyOptimizerParams params_;
  std::vector<Slot> slots_;
};

}  // namespace

TENON_COMPONENT(MyOptimizer, MyOptimizerParams, "my_optimizer", "Gradient descent with momentum")
