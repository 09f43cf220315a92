// The shapes of logits and masks.
#include <support/mask.hpp>

#include <ATen/ATen.h>

#include <support/shapes.hpp>
#include <tenon/error.hpp>

namespace tenon::losses {

Port pixel_logits_port() {
  return Port::of("logits", {Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16}, {"N", "C", "H", "W"})
      .classes_of("target");
}

Port mask_port() {
  return Port::of("target", {Dtype::kUint8, Dtype::kInt64, Dtype::kInt32, Dtype::kInt16, Dtype::kInt8, Dtype::kBool},
                  {"N", "H", "W"});
}

Pixels pixels(const Tensors& in) {
  const at::Tensor& logits = in.at("logits");
  const at::Tensor& target = in.at("target");
  const bool fits = logits.dim() == 4 && target.dim() == 3 && logits.size(0) == target.size(0) &&
                    logits.sizes().slice(2).equals(target.sizes().slice(1));
  if (fits) return {logits, target.to(at::kLong)};
  throw Error(ErrorCode::kConfig,
              "logits " + spelled(logits) + " and target " + spelled(target) +
                  " do not fit: give logits [N, C, H, W] beside a mask [N, H, W] of one class a pixel");
}

}  // namespace tenon::losses
