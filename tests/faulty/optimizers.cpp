// An optimizer that keeps the gradients that it was given, so that a checkpoint shows them.
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/optimizer.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/registration.hpp>

namespace {

struct RecordingParams {
  double lr = 0.1;
  TENON_PARAMS(RecordingParams, tenon::field(&RecordingParams::lr, "lr", "Learning rate").above(0).schedulable())
};

class Recording final : public tenon::Optimizer {
 public:
  explicit Recording(const RecordingParams& /*params*/) {}

  static std::vector<std::string> traits() { return {"stateful"}; }

  void attach(std::span<const tenon::ParamGroup> groups) override {
    for (const tenon::ParamGroup& group : groups) slots_.push_back({&group, at::zeros_like(group.flat_grad)});
  }

  void step(const tenon::Update& /*update*/) override {
    for (Slot& slot : slots_) {
      slot.seen.copy_(slot.group->flat_grad);
      slot.group->flat_param.sub_(slot.group->flat_grad, slot.group->hyper("lr").value);
    }
  }

  void state(tenon::StateIo& io) override {
    for (Slot& slot : slots_) {
      for (std::size_t i = 0; i < slot.group->names.size(); ++i) {
        at::Tensor view = slot.group->view_like(slot.seen, i);
        tenon::nn::io(io, "grad/" + slot.group->names[i], view);
      }
    }
  }

 private:
  struct Slot {
    const tenon::ParamGroup* group;
    at::Tensor seen;
  };
  std::vector<Slot> slots_;
};

}  // namespace

TENON_COMPONENT(Recording, RecordingParams, "recording", "Plain descent that keeps its gradients")
