// Batch normalisation.
#include <tenon/nn/batch_norm.hpp>

#include <ATen/ATen.h>

#include <tenon/nn/init.hpp>

namespace tenon::nn {

BatchNorm::BatchNorm(Module* parent, std::string name, int64_t channels, const BatchNormOptions& options)
    : Layer(parent, std::move(name)),
      options_(options),
      weight_(this, "weight", {channels}, constant(1)),
      bias_(this, "bias", {channels}, constant(0)),
      running_mean_(this, "running_mean", {channels}, at::kFloat, 0),
      running_var_(this, "running_var", {channels}, at::kFloat, 1),
      num_batches_tracked_(this, "num_batches_tracked", {}, at::kLong, 0) {}

at::Tensor BatchNorm::forward(const at::Tensor& in, StepContext& context) {
  const bool training = trains(context);
  if (training) num_batches_tracked_.value().add_(1);
  return at::batch_norm(in, weight_.value(), bias_.value(), running_mean_.value(), running_var_.value(), training,
                        options_.momentum, options_.eps, at::globalContext().userEnabledCuDNN());
}

}  // namespace tenon::nn
