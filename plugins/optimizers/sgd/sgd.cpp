// optimizer:sgd: gradient descent with momentum, by libtorch's fused kernel over one buffer a group.
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/optimizer.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/registration.hpp>

namespace tenon::optimizers {

struct SgdParams {
  double lr = 0.01;
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double weight_decay = 0;

  TENON_PARAMS(SgdParams, field(&SgdParams::lr, "lr", "Learning rate").above(0).schedulable(),
               field(&SgdParams::momentum, "momentum", "Share of the running update that stays, a step")
                   .min(0)
                   .below(1)
                   .schedulable(),
               field(&SgdParams::dampening, "dampening", "Share of a gradient that stays out of the running update")
                   .min(0)
                   .max(1),
               field(&SgdParams::nesterov, "nesterov",
                     "Look one step of momentum ahead; needs momentum, without dampening"),
               field(&SgdParams::weight_decay, "weight_decay", "Share of a parameter that is added to its gradient")
                   .min(0)
                   .schedulable())
};

/// Step of each parameter p with gradient g:
///   g ← g + weight_decay·p,
///   b ← g in the first step, momentum·b + (1 − dampening)·g in each later one,
///   p ← p − lr·u,  u = b, or g + momentum·b with nesterov, or g while momentum is 0, which leaves b alone
/// (Sutskever et al., "On the importance of initialization and momentum in deep learning", ICML 2013, with the rate
/// outside of b as torch.optim.SGD has it). State by parameter name: momentum_buffer/ (b), started/ (whether b has had
/// its first step). A group that is attached with a momentum of 0 has none.
class Sgd final : public Optimizer {
 public:
  explicit Sgd(const SgdParams& params) : params_(params) {
    if (params.nesterov && params.momentum == 0) {
      throw Error(ErrorCode::kConfig, "nesterov needs a momentum above 0, such as 0.9", "/nesterov");
    }
    if (params.nesterov && params.dampening != 0) {
      throw Error(ErrorCode::kConfig, "nesterov needs a dampening of 0", "/dampening");
    }
  }

  static std::vector<std::string> traits() { return {"deterministic", "stateful"}; }
  static std::vector<std::string> abilities() { return {kDeviceSkip}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kDeviceSkip ? static_cast<Optimizer*>(this) : nullptr;
  }

  void attach(std::span<const ParamGroup> groups) override {
    for (const ParamGroup& group : groups) {
      Slot slot{&group, {}, {}};
      if (group.hyper("momentum").value != 0) {
        slot.buffer = at::zeros_like(group.flat_param);
        slot.started = at::zeros({}, group.flat_param.options().dtype(at::kFloat));
      }
      slots_.push_back(std::move(slot));
    }
  }

  void step(const Update& update) override {
    std::optional<at::Tensor> skip;
    if (update.found_inf.defined()) skip = update.found_inf.ne(0).to(at::kFloat);
    for (const Slot& slot : slots_) {
      if (slot.momentum() == 0 || params_.dampening == 0) {
        apply(slot, 0, update.grad_scale, skip);  // from a buffer of zeros, this is the first step too
      } else {
        // Only the device knows whether the first step has happened: of the two, one leaves no trace.
        const at::Tensor first = at::logical_not(slot.started).to(at::kFloat);
        const at::Tensor never = skip ? *skip : at::zeros_like(first);
        apply(slot, 0, update.grad_scale, at::maximum(never, slot.started));
        apply(slot, params_.dampening, update.grad_scale, at::maximum(never, first));
      }
      if (slot.momentum() == 0) continue;
      slot.started.copy_(skip ? at::maximum(slot.started, 1 - *skip) : at::ones_like(slot.started));
    }
  }

  void state(StateIo& io) override {
    for (const Slot& slot : slots_) {
      if (!slot.buffer.defined()) continue;
      const bool saved = slot.started.item<float>() != 0;
      for (std::size_t i = 0; i < slot.group->names.size(); ++i) {
        const std::string& name = slot.group->names[i];
        at::Tensor buffer = slot.group->view_like(slot.buffer, i);
        nn::io(io, "momentum_buffer/" + name, buffer);
        bool started = saved;
        io.io("started/" + name, started);
        restore_started(io, slot, i, started);
      }
    }
  }

 private:
  struct Slot {
    const ParamGroup* group;
    at::Tensor buffer;   // laid out like the group's flat_param; undefined without momentum, as is the next
    at::Tensor started;  // float32, 0-dim, on the parameters' device: 1 once the buffer has had its first step

    /// As it is in this step.
    [[nodiscard]] double momentum() const { return buffer.defined() ? group->hyper("momentum").value : 0; }
  };

  /// One step, unless `skip` is 1.
  void apply(const Slot& slot, double dampening, const at::Tensor& grad_scale,
             const std::optional<at::Tensor>& skip) const {
    const at::Tensor& param = slot.group->flat_param;
    // On a CPU, libtorch's kernel for types of 16 bits computes the update and forgets to store it.
    if (!param.is_cpu() || !at::isReducedFloatingType(param.scalar_type())) {
      return apply(slot, param, slot.group->flat_grad, slot.buffer, dampening, grad_scale, skip);
    }
    const at::Tensor wide = param.to(at::kFloat);
    const at::Tensor buffer = slot.buffer.defined() ? slot.buffer.to(at::kFloat) : at::Tensor();
    apply(slot, wide, slot.group->flat_grad.to(at::kFloat), buffer, dampening, grad_scale, skip);
    param.copy_(wide);
    if (buffer.defined()) slot.buffer.copy_(buffer);
  }

  void apply(const Slot& slot, const at::Tensor& param, const at::Tensor& grad, const at::Tensor& buffer,
             double dampening, const at::Tensor& grad_scale, const std::optional<at::Tensor>& skip) const {
    const Hyper& lr = slot.group->hyper("lr");
    const double momentum = slot.momentum();
    const double weight_decay = slot.group->hyper("weight_decay").value;
    const auto update = [&](const auto& rate) {
      at::_fused_sgd_(param, grad, momentum == 0 ? at::TensorList() : at::TensorList(buffer), weight_decay, momentum,
                      rate, dampening, params_.nesterov, /*maximize=*/false, /*is_first_step=*/false,
                      grad_scale.defined() ? std::optional(grad_scale) : std::nullopt, skip);
    };
    // The kernels take a rate of their own device in float32 alone.
    if (param.is_cpu() || param.scalar_type() == at::kDouble) return update(lr.value);
    update(lr.tensor.to(at::kFloat));
  }

  /// A group starts as one: what was saved for its parameters has to agree.
  static void restore_started(const StateIo& io, const Slot& slot, std::size_t index, bool started) {
    if (io.saving()) return;
    if (index > 0 && (slot.started.item<float>() != 0) != started) {
      throw Error(ErrorCode::kCheckpoint, "\"started/" + slot.group->names[index] + "\" differs from \"started/" +
                                              slot.group->names[0] + "\" of the same group: were the groups changed?");
    }
    slot.started.fill_(started ? 1 : 0);
  }

  SgdParams params_;
  std::vector<Slot> slots_;
};

TENON_COMPONENT(Sgd, SgdParams, "sgd", "Gradient descent with momentum, also Nesterov's, and decay in the gradient")

}  // namespace tenon::optimizers
