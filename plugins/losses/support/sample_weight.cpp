// Checks of weights, and their sum.
#include <support/sample_weight.hpp>

#include <cmath>
#include <string>

#include <ATen/ATen.h>

#include <support/shapes.hpp>
#include <tenon/error.hpp>

namespace tenon::losses {
namespace {

/// Reads the values on the host alone: elsewhere that would wait for the device.
void check_values(const at::Tensor& weight) {
  if (!weight.is_cpu()) return;
  const at::Tensor values = weight.to(at::kDouble).contiguous();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const double value = values.const_data_ptr<double>()[i];
    if (std::isfinite(value) && value >= 0) continue;
    throw Error(ErrorCode::kData, "weight " + std::to_string(value) + " of sample " + std::to_string(i) +
                                      " in the batch must be finite and at least 0");
  }
}

}  // namespace

Port SampleWeight::port() {
  Port port = Port::of("weight", {Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16}, {"N"});
  port.optional = true;
  return port;
}

at::Tensor SampleWeight::total(const Tensors& batch_in) {
  const at::Tensor* const weight = batch_in.find("weight");
  in_batch_ = weight != nullptr;
  require_known();
  if (weight != nullptr) {
    check_values(*weight);
    return weight->sum(at::kDouble);
  }
  if (batch_in.empty()) return {};
  const at::Tensor& field = batch_in.begin()->second;
  return at::full({}, field.size(0), field.options().dtype(at::kDouble));
}

const at::Tensor* SampleWeight::in(const Tensors& in, const char* name, const at::Tensor& of) {
  const at::Tensor* const weight = in.find("weight");
  in_sum_ = weight != nullptr;
  require_known();
  if (weight == nullptr || (weight->dim() == 1 && weight->size(0) == of.size(0))) return weight;
  throw Error(ErrorCode::kConfig, "weight " + spelled(*weight) + " must have one element for each sample of " +
                                      std::string(name) + " " + spelled(of));
}

void SampleWeight::require_known() const {
  // total() gets fields of the batch alone: a weight from elsewhere would count in the sum and not in the divisor.
  if (!in_batch_ || !in_sum_ || *in_batch_ == *in_sum_) return;
  throw Error(ErrorCode::kConfig,
              "weights have to be known before the forward pass: wire \"weight\" to a field of the batch");
}

}  // namespace tenon::losses
