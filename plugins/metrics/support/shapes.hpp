// Shapes of what a metric compares.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace tenon::metrics {

/// "float32[4, 1]"
[[nodiscard]] std::string spelled(const at::Tensor& tensor);

/// `target` in the shape of `prediction`: [N] and [N, 1] are the same, one value a sample. \throws Error (kConfig) for
/// any other two shapes, naming both.
[[nodiscard]] at::Tensor in_shape_of(const at::Tensor& prediction, const at::Tensor& target);

/// Logits [N, C, …] of two or more classes beside class indices [N, …] of int64.
struct ClassLogits {
  at::Tensor logits;
  at::Tensor target;
};

/// Logits [N, C, …] stay as they are beside targets [N, …]. One logit x for each target ([N, …], or [N, 1, …] beside
/// targets [N, …]) becomes the logits 0 and x of the classes 0 and 1, so that class 1 is meant where x > 0.
/// \throws Error (kConfig) for other shapes, naming both.
[[nodiscard]] ClassLogits class_logits(const at::Tensor& logits, const at::Tensor& target);

}  // namespace tenon::metrics
