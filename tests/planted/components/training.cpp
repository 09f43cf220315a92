// Faults in components of the step plane and of time.
#include <cstdlib>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/loss.hpp>
#include <tenon/components/metric.hpp>
#include <tenon/components/model.hpp>
#include <tenon/components/optimizer.hpp>
#include <tenon/components/schedule.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/registration.hpp>

namespace {

using tenon::Dtype;
using tenon::Port;
using tenon::Tensors;

struct LrParams {
  double lr = 0.1;
  TENON_PARAMS(LrParams, tenon::field(&LrParams::lr, "lr", "Rate").above(0).schedulable())
};

/// Momentum that no checkpoint holds.
class Forgets final : public tenon::Optimizer {
 public:
  explicit Forgets(const LrParams& /*params*/) {}

  void attach(std::span<const tenon::ParamGroup> groups) override {
    groups_ = groups;
    for (const tenon::ParamGroup& group : groups) momentum_.push_back(at::zeros_like(group.flat_param));
  }
  void step(const tenon::Update& /*update*/) override {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      at::Tensor param = groups_[i].flat_param;
      momentum_[i].mul_(0.9).add_(groups_[i].flat_grad);
      param.sub_(momentum_[i] * groups_[i].hyper("lr").tensor.to(at::kFloat));
    }
  }

 private:
  std::span<const tenon::ParamGroup> groups_;
  std::vector<at::Tensor> momentum_;
};

struct ScaleParams {
  double scale = 1;
  double unused = 1;
  TENON_PARAMS(ScaleParams, tenon::field(&ScaleParams::scale, "scale", "Factor of the sum").above(0),
               tenon::field(&ScaleParams::unused, "unused", "Said to be something"))
};

class IgnoresParameter final : public tenon::Loss {
 public:
  explicit IgnoresParameter(const ScaleParams& params) : scale_(params.scale) {}

  static tenon::Ports ports() { return {{Port::of("x", {Dtype::kFloat32}, {"N", "*"})}, {}}; }

  [[nodiscard]] at::Tensor weight(const Tensors& /*batch_in*/) override { return {}; }
  [[nodiscard]] at::Tensor sum(const Tensors& in, tenon::StepContext& /*context*/) override {
    return in.at("x").square().sum() * scale_;
  }

 private:
  double scale_;
};

/// Half of its gradient is cut off.
class WrongGradient final : public tenon::Loss {
 public:
  explicit WrongGradient(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() { return {{Port::of("x", {Dtype::kFloat32}, {"N", "*"})}, {}}; }

  [[nodiscard]] at::Tensor weight(const Tensors& /*batch_in*/) override { return {}; }
  [[nodiscard]] at::Tensor sum(const Tensors& in, tenon::StepContext& /*context*/) override {
    return (in.at("x") * in.at("x").detach()).sum();
  }
};

class Leaks final : public tenon::Metric {
 public:
  explicit Leaks(const tenon::NoParams& /*params*/) : leaked_(new char[1000]) {}  // NOLINT: the fault

  static tenon::Ports ports() { return {{Port::of("x", {Dtype::kFloat32}, {"N"})}, {}}; }
  static std::vector<tenon::MetricOutput> outputs() { return {{"mean", tenon::Direction::kMin}}; }

  void reset() override { sum_ = at::zeros({2}, at::TensorOptions(at::kDouble)); }
  void update(const Tensors& in) override {
    const at::Tensor x = in.at("x").to(at::kDouble);
    sum_ = sum_ + at::stack({x.sum(), at::full_like(x, 1).sum()});
    leaked_[0] = 1;
  }
  [[nodiscard]] std::vector<double> compute(tenon::Collectives& ranks) override {
    at::Tensor sum = sum_.clone();
    ranks.all_reduce(sum, tenon::Collectives::Op::kSum);
    return {(sum[0] / sum[1]).item<double>()};
  }

 private:
  char* leaked_;
  at::Tensor sum_;
};

/// The batch of the example stands in its graph.
class Baked final : public tenon::Model {
 public:
  explicit Baked(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() {
    return {{Port::of("x", {Dtype::kFloat32}, {"N", int64_t{6}})},
            {Port::of("y", {Dtype::kFloat32}, {"N", int64_t{2}})}};
  }

  void build(const tenon::Spec& /*in*/) override { network_ = std::make_unique<Network>(); }
  [[nodiscard]] tenon::nn::Module& root() override { return *network_; }

 private:
  class Network final : public tenon::nn::Module {
   public:
    Tensors forward(const Tensors& in, tenon::StepContext& context) override {
      const at::Tensor& x = in.at("x");
      const at::Tensor pairs = x.reshape({x.size(0) * 2, 3});
      return {{"y", layer_(pairs, context).reshape({x.size(0), 2})}};
    }

   private:
    tenon::nn::Linear layer_{this, "layer", 3, 1};
  };
  std::unique_ptr<Network> network_;
};

/// Believes a checkpoint whatever it holds.
class Crashes final : public tenon::Schedule {
 public:
  explicit Crashes(const tenon::NoParams& /*params*/) {}

  static std::vector<std::string> traits() { return {"stateful"}; }

  [[nodiscard]] double factor(const tenon::Progress& progress) override {
    calls_ = progress.applied % 4;
    return factors_[static_cast<std::size_t>(calls_)];
  }
  void state(tenon::StateIo& io) override {
    io.io("calls", calls_);
    if (calls_ < 0 || calls_ > 3) std::abort();  // where an index would be out of bounds
  }

 private:
  int64_t calls_ = 0;
  std::vector<double> factors_{1, 0.5, 0.25, 0.125};
};

/// Takes the number of calls for the number of steps.
class CountsCalls final : public tenon::Schedule {
 public:
  explicit CountsCalls(const tenon::NoParams& /*params*/) {}

  static std::vector<std::string> traits() { return {"stateful"}; }

  [[nodiscard]] double factor(const tenon::Progress& /*progress*/) override {
    return 1.0 / static_cast<double>(++calls_);
  }
  void state(tenon::StateIo& io) override { io.io("calls", calls_); }

 private:
  int64_t calls_ = 0;
};

}  // namespace

TENON_COMPONENT(Forgets, LrParams, "forgets", "Does not save its momentum")
TENON_COMPONENT(IgnoresParameter, ScaleParams, "ignores_parameter", "Has a parameter without effect")
TENON_COMPONENT(WrongGradient, tenon::NoParams, "wrong_gradient", "Has half of its gradient")
TENON_COMPONENT(Leaks, tenon::NoParams, "leaks", "Leaves memory behind")
TENON_COMPONENT(Baked, tenon::NoParams, "baked", "Can be traced for one batch size alone")
TENON_COMPONENT(Crashes, tenon::NoParams, "crashes", "Ends the process for a damaged state")
TENON_COMPONENT(CountsCalls, tenon::NoParams, "counts_calls", "Counts its calls as steps")
