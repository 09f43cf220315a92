// Shapes of what a loss compares.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace tenon::losses {

/// "[4, 1]"
[[nodiscard]] std::string spelled(const at::Tensor& tensor);

/// `target` in the shape of `output`: [N] and [N, 1] are the same, one value a sample. \throws Error (kConfig) for any
/// other two shapes, by the name of the output's port.
[[nodiscard]] at::Tensor in_shape_of(const at::Tensor& output, const char* name, const at::Tensor& target);

}  // namespace tenon::losses
