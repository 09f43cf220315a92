// Autocast, a scaled backward and a finite check, around a small network.
#include <tenon/harness/precision.hpp>

#include <cmath>
#include <optional>
#include <string>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>

#include <tenon/error.hpp>
#include <tenon/harness/network.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/random.hpp>

namespace tenon::harness {
namespace {

/// Autocast of this thread on the CPU while it lives.
class Autocast {
 public:
  explicit Autocast(std::optional<at::ScalarType> type) : active_(type.has_value()) {
    if (!active_) return;
    at::autocast::set_autocast_dtype(at::kCPU, *type);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_cache_enabled(false);  // one cache serves all threads
  }
  ~Autocast() {
    if (!active_) return;
    at::autocast::set_autocast_cache_enabled(cache_before_);
    at::autocast::set_autocast_enabled(at::kCPU, enabled_before_);
    at::autocast::set_autocast_dtype(at::kCPU, type_before_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool active_;
  bool enabled_before_ = at::autocast::is_autocast_enabled(at::kCPU);
  bool cache_before_ = at::autocast::is_autocast_cache_enabled();
  at::ScalarType type_before_ = at::autocast::get_autocast_dtype(at::kCPU);
};

class Network final : public nn::Module {
 protected:
  Tensors forward(const Tensors& in, StepContext& context) override {
    return {{"y", second_(at::tanh(first_(in.at("x"), context)), context)}};
  }

 private:
  nn::Linear first_{this, "first", 4, 16};
  nn::Linear second_{this, "second", 16, 1};
};

double scale_of(const Precision& policy) {
  const double scale = policy.scale();
  if (std::isfinite(scale) && scale > 0) return scale;
  throw Error(ErrorCode::kPlugin, "the scale is " + std::to_string(scale) + ", but must be finite and above 0");
}

/// Divides all gradients by `scale`, moves against them where all are finite, and drops them.
bool descend(nn::Module& root, double scale) {
  constexpr double kRate = 0.1;
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> values;
  root.visit_params([&](const std::string& /*name*/, nn::Param& slot) { values.push_back(slot.value()); });
  bool finite = true;
  for (const at::Tensor& value : values) {
    value.mutable_grad().div_(scale);
    finite = finite && value.grad().isfinite().all().item<bool>();
  }
  for (const at::Tensor& value : values) {
    if (finite) value.sub_(value.grad(), kRate);
    value.mutable_grad().reset();
  }
  return finite;
}

}  // namespace

std::vector<double> scales(Precision& policy, const std::vector<bool>& finite) {
  std::vector<double> seen;
  for (const bool each : finite) {
    seen.push_back(scale_of(policy));
    policy.update(each);
  }
  seen.push_back(scale_of(policy));
  return seen;
}

Tensors run(const Precision& policy, nn::Module& root, const Tensors& in, bool training, uint64_t key) {
  Tensors stored;
  for (const auto& [name, tensor] : in) {
    stored.set(name, tensor.is_floating_point() ? tensor.to(policy.storage()) : tensor);
  }
  const Autocast autocast(policy.autocast());
  return run(root, stored, training, key);
}

std::vector<Attempt> train(Precision& policy, int64_t steps, uint64_t seed) {
  Network network;
  materialize(network, seed, policy.storage());
  at::Generator random = at::detail::createCPUGenerator(random_key({seed, name_key("data")}));
  const at::Tensor x = at::randn({32, 4}, random, at::TensorOptions(at::kDouble));
  const at::Tensor target = x.mean(1, /*keepdim=*/true).to(policy.storage());
  std::vector<Attempt> attempts;
  for (int64_t step = 0; step < steps; ++step) {
    Attempt attempt;
    attempt.scale = scale_of(policy);
    const at::Tensor y = run(policy, network, {{"x", x}}, true).at("y").to(policy.storage());
    const at::Tensor loss = at::mse_loss(y, target);
    (loss * attempt.scale).backward();
    attempt.loss = loss.item<double>();
    attempt.applied = descend(network, attempt.scale);
    policy.update(attempt.applied);
    attempts.push_back(attempt);
  }
  return attempts;
}

}  // namespace tenon::harness
