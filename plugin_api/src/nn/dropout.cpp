// Dropout.
#include <tenon/nn/dropout.hpp>

#include <ATen/ATen.h>

#include <tenon/error.hpp>

namespace tenon::nn {

Dropout::Dropout(Module* parent, std::string name, double p) : Layer(parent, std::move(name)), p_(p) {
  if (!(p >= 0 && p < 1)) throw Error(ErrorCode::kConfig, "dropout needs 0 <= p < 1, not " + std::to_string(p));
}

at::Tensor Dropout::forward(const at::Tensor& in, StepContext& context) {
  if (p_ == 0 || !trains(context) || in.is_meta()) return in;
  const at::Tensor mask = at::empty_like(in).bernoulli_(1 - p_, context.random(*this));
  // A mask of 8 bits cannot hold 1/(1 − p), and all that is kept would be off by the same 0.4 %.
  if (at::isReducedFloatingType(in.scalar_type())) return in.mul(mask).mul(1 / (1 - p_));
  return in * mask.div_(1 - p_);
}

}  // namespace tenon::nn
