// A two-dimensional convolution.
#include <tenon/nn/conv2d.hpp>

#include <array>
#include <cmath>

#include <ATen/ATen.h>

#include <tenon/nn/init.hpp>

namespace tenon::nn {
namespace {

int64_t fan_in(const Conv2dOptions& options) { return options.in / options.groups * options.kernel * options.kernel; }

}  // namespace

Conv2d::Conv2d(Module* parent, std::string name, const Conv2dOptions& options)
    : Layer(parent, std::move(name)),
      options_(options),
      weight_(this, "weight", {options.out, options.in / options.groups, options.kernel, options.kernel},
              kaiming_uniform(fan_in(options), 1.0 / std::sqrt(3.0))) {
  if (options.bias) bias_.emplace(this, "bias", std::vector<int64_t>{options.out}, fan_in_uniform(fan_in(options)));
}

at::Tensor Conv2d::forward(const at::Tensor& in, StepContext& /*context*/) {
  const std::array<int64_t, 2> stride{options_.stride, options_.stride};
  const std::array<int64_t, 2> padding{options_.padding, options_.padding};
  const std::array<int64_t, 2> dilation{options_.dilation, options_.dilation};
  return at::conv2d(in, weight_, bias_ ? std::optional<at::Tensor>(bias_->value()) : std::nullopt, stride, padding,
                    dilation, options_.groups);
}

}  // namespace tenon::nn
