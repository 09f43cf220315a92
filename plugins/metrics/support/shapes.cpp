// Comparison of shapes, and logits of one class as those of two.
#include <support/shapes.hpp>

#include <vector>

#include <ATen/ATen.h>

#include <tenon/error.hpp>
#include <tenon/spec.hpp>
#include <tenon/tensors.hpp>

namespace tenon::metrics {

std::string spelled(const at::Tensor& tensor) {
  FieldSpec field{"", dtype_of(tensor.scalar_type()), {}};
  for (const int64_t size : tensor.sizes()) field.shape.emplace_back(size);
  return to_string(field);
}

at::Tensor in_shape_of(const at::Tensor& prediction, const at::Tensor& target) {
  if (prediction.sizes().equals(target.sizes())) return target;
  const bool same_samples = prediction.dim() + target.dim() == 3 && prediction.size(0) == target.size(0);
  if (same_samples && (prediction.dim() == 2 ? prediction : target).size(1) == 1) {
    return target.reshape(prediction.sizes());
  }
  throw Error(ErrorCode::kConfig, "prediction is " + spelled(prediction) + ", but target is " + spelled(target) +
                                      ": elements are compared one by one, so the shapes must be equal");
}

ClassLogits class_logits(const at::Tensor& logits, const at::Tensor& target) {
  at::Tensor classes = target.to(at::kLong);
  at::Tensor positive = logits;
  if (logits.dim() == classes.dim() + 1) {
    std::vector<int64_t> rest = logits.sizes().vec();
    rest.erase(rest.begin() + 1);
    if (logits.size(1) != 1 && classes.sizes().equals(rest)) return {logits, classes};
    if (logits.size(1) == 1) positive = logits.squeeze(1);
  } else if (classes.dim() == logits.dim() + 1 && classes.size(1) == 1) {
    classes = classes.squeeze(1);
  }
  if (positive.sizes().equals(classes.sizes())) return {at::stack({at::zeros_like(positive), positive}, 1), classes};
  throw Error(ErrorCode::kConfig, "logits are " + spelled(logits) + ", but target is " + spelled(target) +
                                      ": give logits [N, C] of classes or [N, 1] of a yes or no beside targets [N]");
}

}  // namespace tenon::metrics
