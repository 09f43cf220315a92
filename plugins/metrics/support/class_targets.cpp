// The range of targets over batches and ranks.
#include <support/class_targets.hpp>

#include <string>

#include <ATen/ATen.h>

#include <tenon/error.hpp>

namespace tenon::metrics {

Port logits_port() {
  return Port::of("logits", {Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16}, {"N", "*"})
      .classes_of("target");
}

Port target_port() {
  return Port::of("target", {Dtype::kInt64, Dtype::kInt32, Dtype::kInt16, Dtype::kInt8, Dtype::kUint8, Dtype::kBool},
                  {"N", "*"});
}

void ClassTargets::reset() {
  classes_ = 0;
  range_ = at::Tensor();
}

at::Tensor ClassTargets::add(const at::Tensor& target, int64_t classes) {
  classes_ = classes;
  at::Tensor counts = target.ne(ignored_);
  const at::Tensor shown = target.where(counts, 0);
  const at::Tensor range = at::stack({shown.min().neg(), shown.max()});
  range_ = range_.defined() ? at::maximum(range_, range) : range;
  return counts;
}

void ClassTargets::require_classes(Collectives& ranks) const {
  at::Tensor range = range_.defined() ? range_.clone() : at::zeros({2}, at::kLong);
  ranks.all_reduce(range, Collectives::Op::kMax);
  const at::Tensor host = range.cpu();
  const int64_t lowest = -host.const_data_ptr<int64_t>()[0];
  const int64_t highest = host.const_data_ptr<int64_t>()[1];
  if (classes_ == 0 || (lowest >= 0 && highest < classes_)) return;
  throw Error(ErrorCode::kData, "target " + std::to_string(lowest < 0 ? lowest : highest) + " is no class: there are " +
                                    std::to_string(classes_) + " (0 to " + std::to_string(classes_ - 1) + "), and " +
                                    ignore_name_ + " is " + std::to_string(ignored_));
}

}  // namespace tenon::metrics
