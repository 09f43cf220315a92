// A two-dimensional convolution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tenon/nn/module.hpp>

namespace tenon::nn {

struct Conv2dOptions {
  int64_t in = 1;      ///< Channels that come in.
  int64_t out = 1;     ///< Channels that go out.
  int64_t kernel = 3;  ///< Side of the square kernel.
  int64_t stride = 1;
  int64_t padding = 0;  ///< Zeros added at each border.
  int64_t dilation = 1;
  int64_t groups = 1;
  bool bias = true;
};

/// Cross-correlation of [N, in, H, W] to [N, out, H', W']. Slots: weight [out, in/groups, kernel, kernel], bias [out].
class Conv2d final : public Layer {
 public:
  Conv2d(Module* parent, std::string name, const Conv2dOptions& options);

 protected:
  at::Tensor forward(const at::Tensor& in, StepContext& context) override;

 private:
  Conv2dOptions options_;
  Param weight_;
  std::optional<Param> bias_;
};

}  // namespace tenon::nn
