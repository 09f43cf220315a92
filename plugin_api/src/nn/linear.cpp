// A fully connected layer.
#include <tenon/nn/linear.hpp>

#include <cmath>

#include <ATen/ATen.h>

#include <tenon/nn/init.hpp>

namespace tenon::nn {

Linear::Linear(Module* parent, std::string name, int64_t in, int64_t out, bool bias)
    : Layer(parent, std::move(name)), weight_(this, "weight", {out, in}, kaiming_uniform(in, 1.0 / std::sqrt(3.0))) {
  if (bias) bias_.emplace(this, "bias", std::vector<int64_t>{out}, fan_in_uniform(in));
}

at::Tensor Linear::forward(const at::Tensor& in, StepContext& /*context*/) {
  return at::linear(in, weight_, bias_ ? std::optional<at::Tensor>(bias_->value()) : std::nullopt);
}

}  // namespace tenon::nn
