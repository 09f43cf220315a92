// Sizes that stay symbolic in a traced graph, where a plain x.size(0) would be baked in.
#pragma once

#include <cstdint>
#include <initializer_list>

#include <ATen/core/Tensor.h>

namespace tenon::nn {

/// A size that is a number now and, while a trace is made, also the value in the graph that it comes from.
struct Size {
  Size(int64_t fixed) : value(fixed) {}  // NOLINT(google-explicit-constructor): shapes read as {batch, -1}
  Size(int64_t now, at::Tensor traced_value) : value(now), traced(std::move(traced_value)) {}

  int64_t value;
  at::Tensor traced;  ///< Undefined outside of a trace and for fixed numbers.
};

/// The size of an axis; negative axes count from the end.
[[nodiscard]] Size size_of(const at::Tensor& tensor, int64_t axis);

/// at::reshape with sizes that stay symbolic.
[[nodiscard]] at::Tensor reshape(const at::Tensor& tensor, std::initializer_list<Size> shape);

/// [N, C, H, W] to [N, C, height, width], each output pixel from the input pixel ⌊y·H/height⌋, ⌊x·W/width⌋, with sizes
/// that stay symbolic. From ⌈s/2⌉ to s it doubles, and leaves out the last row or column where s is odd.
[[nodiscard]] at::Tensor resize_nearest(const at::Tensor& maps, const Size& height, const Size& width);

}  // namespace tenon::nn
