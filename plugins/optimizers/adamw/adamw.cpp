// optimizer:adamw: Adam with decoupled weight decay, by libtorch's fused kernel over one buffer a group.
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/optimizer.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/registration.hpp>

namespace tenon::optimizers {

struct AdamwParams {
  double lr = 1e-3;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;

  TENON_PARAMS(
      AdamwParams, field(&AdamwParams::lr, "lr", "Learning rate").above(0).schedulable(),
      field(&AdamwParams::weight_decay, "weight_decay", "Share of a parameter that decays a step, times lr")
          .min(0)
          .schedulable(),
      field(&AdamwParams::beta1, "beta1", "Decay of the running mean of gradients, a step").min(0).below(1),
      field(&AdamwParams::beta2, "beta2", "Decay of the running mean of squared gradients, a step").min(0).below(1),
      field(&AdamwParams::eps, "eps", "Added to the root of the mean square, in the gradient's unit").above(0))
};

/// Step t of each parameter p with gradient g (Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019,
/// algorithm 2, with the decay times lr as libtorch has it):
///   p ← p·(1 − lr·weight_decay),  m ← beta1·m + (1 − beta1)·g,  v ← beta2·v + (1 − beta2)·g²,
///   p ← p − lr·m/(1 − beta1ᵗ) / (√(v/(1 − beta2ᵗ)) + eps).
/// State by parameter name: exp_avg/ (m), exp_avg_sq/ (v), step/ (t).
class Adamw final : public Optimizer {
 public:
  explicit Adamw(const AdamwParams& params) : params_(params) {}

  static std::vector<std::string> traits() { return {"deterministic", "stateful"}; }
  static std::vector<std::string> abilities() { return {kDeviceSkip}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kDeviceSkip ? static_cast<Optimizer*>(this) : nullptr;
  }

  void attach(std::span<const ParamGroup> groups) override {
    for (const ParamGroup& group : groups) {
      slots_.push_back({&group, at::zeros_like(group.flat_param), at::zeros_like(group.flat_param),
                        at::zeros({}, group.flat_param.options().dtype(at::kFloat))});
    }
  }

  void step(const Update& update) override {
    std::optional<at::Tensor> found_inf;
    std::optional<at::Tensor> grad_scale;
    if (update.found_inf.defined()) found_inf = update.found_inf.ne(0).to(at::kFloat);
    if (update.grad_scale.defined()) grad_scale = update.grad_scale;
    for (Slot& slot : slots_) {
      slot.step.add_(1);  // the kernel reads the number of this step and does not count itself
      apply(slot, grad_scale, found_inf);
      if (found_inf) slot.step.sub_(*found_inf);
    }
  }

  void state(StateIo& io) override {
    for (Slot& slot : slots_) {
      const auto steps = static_cast<int64_t>(slot.step.item<double>());
      for (std::size_t i = 0; i < slot.group->names.size(); ++i) {
        const std::string& name = slot.group->names[i];
        at::Tensor exp_avg = slot.group->view_like(slot.exp_avg, i);
        at::Tensor exp_avg_sq = slot.group->view_like(slot.exp_avg_sq, i);
        nn::io(io, "exp_avg/" + name, exp_avg);
        nn::io(io, "exp_avg_sq/" + name, exp_avg_sq);
        int64_t step = steps;
        io.io("step/" + name, step);
        restore_step(io, slot, i, step);
      }
    }
  }

 private:
  struct Slot {
    const ParamGroup* group;
    at::Tensor exp_avg;  // laid out like the group's flat_param
    at::Tensor exp_avg_sq;
    at::Tensor step;  // float32, 0-dim, on the parameters' device
  };

  void apply(const Slot& slot, const std::optional<at::Tensor>& grad_scale,
             const std::optional<at::Tensor>& found_inf) const {
    const Hyper& lr = slot.group->hyper("lr");
    const double weight_decay = slot.group->hyper("weight_decay").value;
    const at::Tensor& param = slot.group->flat_param;
    const auto update = [&](const auto& rate) {
      at::_fused_adamw_(param, slot.group->flat_grad, slot.exp_avg, slot.exp_avg_sq, at::TensorList(), slot.step, rate,
                        params_.beta1, params_.beta2, weight_decay, params_.eps, /*amsgrad=*/false, /*maximize=*/false,
                        grad_scale, found_inf);
    };
    // The kernels take a rate of their own device in float32 alone.
    if (param.is_cpu() || param.scalar_type() == at::kDouble) return update(lr.value);
    update(lr.tensor.to(at::kFloat));
  }

  /// A group counts its steps once: what was saved for its parameters has to agree.
  static void restore_step(const StateIo& io, Slot& slot, std::size_t index, int64_t step) {
    if (io.saving()) return;
    if (index > 0 && slot.step.item<double>() != static_cast<double>(step)) {
      throw Error(ErrorCode::kCheckpoint, "\"step/" + slot.group->names[index] + "\" is " + std::to_string(step) +
                                              ", but \"step/" + slot.group->names[0] +
                                              "\" of the same group is another: were the groups changed?");
    }
    slot.step.fill_(step);
  }

  AdamwParams params_;
  std::vector<Slot> slots_;
};

TENON_COMPONENT(Adamw, AdamwParams, "adamw", "Adam with weight decay apart from the gradient")

}  // namespace tenon::optimizers
