// Sum and weight of a loss, with what they must be.
#include <tenon/harness/losses.hpp>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <tenon/components/distributed.hpp>
#include <tenon/error.hpp>

namespace tenon::harness {

at::Tensor sum_of(Loss& loss, const Tensors& in) {
  OneRank alone;
  StepContext context(alone, 0, true, 1, at::detail::createCPUGenerator());
  at::Tensor sum = loss.sum(in, context);
  if (!sum.defined() || sum.dim() != 0 || !sum.is_floating_point()) {
    throw Error(ErrorCode::kPlugin, "sum() must give a 0-dim floating tensor");
  }
  return sum;
}

double weight_of(Loss& loss, const Tensors& in, int64_t samples) {
  const at::Tensor weight = loss.weight(in);
  if (!weight.defined()) return static_cast<double>(samples);
  if (weight.dim() != 0) throw Error(ErrorCode::kPlugin, "weight() must give a 0-dim tensor");
  const auto value = weight.item<double>();
  if (value < 0) throw Error(ErrorCode::kPlugin, "weight() gives " + std::to_string(value) + ", which is negative");
  return value;
}

}  // namespace tenon::harness
