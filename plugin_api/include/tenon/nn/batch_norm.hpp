// Batch normalisation over the channel axis.
#pragma once

#include <cstdint>
#include <string>

#include <tenon/nn/module.hpp>

namespace tenon::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;  ///< Weight of the newest batch in the running statistics.
};

/// (x − mean) / sqrt(variance + eps) · weight + bias for each channel of [N, C, …] (Ioffe and Szegedy, ICML 2015).
/// While it trains, statistics of the batch; else the running ones. Slots: weight, bias [C]; buffers running_mean,
/// running_var [C], num_batches_tracked, named as in libtorch.
class BatchNorm final : public Layer {
 public:
  BatchNorm(Module* parent, std::string name, int64_t channels, const BatchNormOptions& options = {});

 protected:
  at::Tensor forward(const at::Tensor& in, StepContext& context) override;

 private:
  BatchNormOptions options_;
  Param weight_;
  Param bias_;
  Buffer running_mean_;
  Buffer running_var_;
  Buffer num_batches_tracked_;
};

}  // namespace tenon::nn
