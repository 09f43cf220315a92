// Checks of targets, and the sum of their weights.
#include <support/class_targets.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <ATen/ATen.h>

#include <tenon/error.hpp>

namespace tenon::losses {

ClassTargets::ClassTargets(std::vector<double> weights, int64_t ignored, const char* ignore_name)
    : weights_(std::move(weights)), ignored_(ignored), ignore_name_(ignore_name) {
  if (!weights_.empty() && std::all_of(weights_.begin(), weights_.end(), [](double weight) { return weight == 0; })) {
    throw Error(ErrorCode::kConfig, "class_weights are all 0: no target would count", "/class_weights");
  }
}

at::Tensor ClassTargets::total(const at::Tensor& target) {
  const at::Tensor counts = target.ne(ignored_);
  if (weights_.empty()) return counts.sum(at::kDouble);
  check(target, static_cast<int64_t>(weights_.size()));
  return on(target.options().dtype(at::kDouble)).take(target.where(counts, 0)).mul(counts).sum();
}

void ClassTargets::check(const at::Tensor& target, int64_t classes) const {
  if (!target.is_cpu()) return;
  const at::Tensor contiguous = target.contiguous();
  const auto* const values = contiguous.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < contiguous.numel(); ++i) {
    if (values[i] == ignored_ || (values[i] >= 0 && values[i] < classes)) continue;
    throw Error(ErrorCode::kData, "target " + std::to_string(values[i]) + " is no class: there are " +
                                      std::to_string(classes) + " (0 to " + std::to_string(classes - 1) + "), and " +
                                      ignore_name_ + " is " + std::to_string(ignored_));
  }
}

std::optional<at::Tensor> ClassTargets::weights(const at::Tensor& logits, int64_t classes) {
  if (weights_.empty()) return std::nullopt;
  if (static_cast<int64_t>(weights_.size()) != classes) {
    throw Error(ErrorCode::kConfig,
                "class_weights has " + std::to_string(weights_.size()) + " elements, but logits have " +
                    std::to_string(classes) + " classes",
                "/class_weights");
  }
  return on(logits.options());
}

const at::Tensor& ClassTargets::on(const at::TensorOptions& options) {
  at::Tensor& kept = options.dtype() == at::kDouble ? for_total_ : for_sum_;
  if (!kept.defined() || kept.device() != options.device() || kept.dtype() != options.dtype()) {
    kept = at::tensor(weights_, at::TensorOptions(at::kDouble)).to(options.device(), options.dtype());
  }
  return kept;
}

}  // namespace tenon::losses
