// Logits of pixels beside a mask that names a class for each.
#pragma once

#include <ATen/core/Tensor.h>

#include <tenon/ports.hpp>
#include <tenon/tensors.hpp>

namespace tenon::losses {

/// "logits": floating [N, C, H, W], scores of the classes in "target".
[[nodiscard]] Port pixel_logits_port();

/// "target": class indices [N, H, W] of an integer type, or bool.
[[nodiscard]] Port mask_port();

struct Pixels {
  at::Tensor logits;  ///< [N, C, H, W]
  at::Tensor mask;    ///< int64 [N, H, W]
};

/// \throws Error (kConfig) for other shapes, naming both.
[[nodiscard]] Pixels pixels(const Tensors& in);

}  // namespace tenon::losses
