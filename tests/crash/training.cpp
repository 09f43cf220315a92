// A model, a loss, an optimizer, a schedule and a precision policy that work until their trap springs.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tenon/components/loss.hpp>
#include <tenon/components/model.hpp>
#include <tenon/components/optimizer.hpp>
#include <tenon/components/precision.hpp>
#include <tenon/components/schedule.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/registration.hpp>
#include <trap.hpp>

namespace crashing {
namespace {

struct ModelParams {
  int64_t classes = 10;
  TrapParams trap;
  TENON_PARAMS(ModelParams, tenon::field(&ModelParams::classes, "classes", "Number of classes").min(1),
               tenon::field(&ModelParams::trap, "trap", "Where it crashes"))
};

struct OnlyTrapParams {
  TrapParams trap;
  TENON_PARAMS(OnlyTrapParams, tenon::field(&OnlyTrapParams::trap, "trap", "Where it crashes"))
};

/// The identity, with a backward of its own that libtorch calls.
class Identity final : public torch::autograd::Function<Identity> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& in, int64_t trap) {
    context->saved_data["trap"] = trap;
    return in.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    reinterpret_cast<const Trap*>(context->saved_data["trap"].toInt())->spring("backward");
    return {gradients[0], at::Tensor()};
  }
};

class Root final : public tenon::nn::Module {
 public:
  Root(int64_t classes, int64_t features, const Trap& trap) : trap_(trap), linear_(this, "linear", features, classes) {}

 protected:
  tenon::Tensors forward(const tenon::Tensors& in, tenon::StepContext& context) override {
    trap_.spring("forward");
    const at::Tensor logits = linear_(at::flatten(in.at("image"), 1), context);
    if (!trap_.lies_in("backward")) return {{"logits", logits}};
    return {{"logits", Identity::apply(logits, static_cast<int64_t>(reinterpret_cast<intptr_t>(&trap_)))}};
  }

 private:
  const Trap& trap_;
  tenon::nn::Linear linear_;
};

class CrashingModel final : public tenon::Model {
 public:
  explicit CrashingModel(const ModelParams& params) : classes_(params.classes), trap_(params.trap) {}

  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("image", {tenon::Dtype::kFloat32}, {"N", "*"})},
            .out = {tenon::Port::of("logits", {tenon::Dtype::kFloat32}, {"N", "$classes"})}};
  }

  void build(const tenon::Spec& in) override {
    trap_.spring("build");
    int64_t features = 1;
    for (std::size_t axis = 1; axis < in.front().shape.size(); ++axis) features *= in.front().shape[axis].size;
    root_.emplace(classes_, features, trap_);
  }
  tenon::nn::Module& root() override { return *root_; }

 private:
  int64_t classes_;
  Trap trap_;
  std::optional<Root> root_;
};

class CrashingLoss final : public tenon::Loss {
 public:
  explicit CrashingLoss(const OnlyTrapParams& params) : trap_(params.trap) {}

  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("logits", {tenon::Dtype::kFloat32}, {"N", "C"}),
                   tenon::Port::of("target", {tenon::Dtype::kInt64}, {"N"})},
            .out = {}};
  }

  [[nodiscard]] at::Tensor weight(const tenon::Tensors& /*batch_in*/) override {
    trap_.spring("weight");
    return {};
  }
  [[nodiscard]] at::Tensor sum(const tenon::Tensors& in, tenon::StepContext& /*context*/) override {
    trap_.spring("sum");
    return at::cross_entropy_loss(in.at("logits"), in.at("target"), {}, at::Reduction::Sum);
  }

 private:
  Trap trap_;
};

struct OptimizerParams {
  double lr = 0.01;
  TrapParams trap;
  TENON_PARAMS(OptimizerParams, tenon::field(&OptimizerParams::lr, "lr", "Learning rate").above(0).schedulable(),
               tenon::field(&OptimizerParams::trap, "trap", "Where it crashes"))
};

class CrashingOptimizer final : public tenon::Optimizer {
 public:
  explicit CrashingOptimizer(const OptimizerParams& params) : trap_(params.trap) {}

  static std::vector<std::string> traits() { return {"stateful"}; }

  void attach(std::span<const tenon::ParamGroup> groups) override {
    for (const tenon::ParamGroup& group : groups) groups_.push_back(&group);
  }
  void step(const tenon::Update& /*update*/) override {
    trap_.spring("step");
    for (const tenon::ParamGroup* const group : groups_) {
      group->flat_param.sub_(group->flat_grad, group->hyper("lr").value);
    }
    ++steps_;
  }
  void state(tenon::StateIo& io) override {
    if (io.saving()) trap_.spring("state");
    io.io("steps", steps_);
  }

 private:
  Trap trap_;
  std::vector<const tenon::ParamGroup*> groups_;
  int64_t steps_ = 0;
};

class CrashingSchedule final : public tenon::Schedule {
 public:
  explicit CrashingSchedule(const OnlyTrapParams& params) : trap_(params.trap) {}
  [[nodiscard]] double factor(const tenon::Progress& /*progress*/) override {
    trap_.spring("factor");
    return 1;
  }

 private:
  Trap trap_;
};

class CrashingPrecision final : public tenon::Precision {
 public:
  explicit CrashingPrecision(const OnlyTrapParams& params) : trap_(params.trap) {}
  [[nodiscard]] std::optional<at::ScalarType> autocast() const override { return std::nullopt; }
  [[nodiscard]] double scale() const override {
    trap_.spring("scale");
    return 1;
  }
  void update(bool /*finite*/) override {}

 private:
  Trap trap_;
};

TENON_COMPONENT(CrashingModel, ModelParams, "crashing", "A linear model that crashes")
TENON_COMPONENT(CrashingLoss, OnlyTrapParams, "crashing", "Cross entropy that crashes")
TENON_COMPONENT(CrashingOptimizer, OptimizerParams, "crashing", "Plain descent that crashes")
TENON_COMPONENT(CrashingSchedule, OnlyTrapParams, "crashing", "A constant rate that crashes")
TENON_COMPONENT(CrashingPrecision, OnlyTrapParams, "crashing", "Float32 that crashes")

}  // namespace
}  // namespace crashing
