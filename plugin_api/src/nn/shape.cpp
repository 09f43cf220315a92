// Sizes that stay symbolic while a trace is made.
#include <tenon/nn/shape.hpp>

#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/jit/frontend/tracer.h>

namespace tenon::nn {

Size size_of(const at::Tensor& tensor, int64_t axis) {
  const int64_t wrapped = axis < 0 ? axis + tensor.dim() : axis;
  if (!torch::jit::tracer::isTracing()) return {tensor.size(wrapped)};
  return {tensor.size(wrapped), torch::jit::tracer::getSizeOf(tensor, wrapped)};
}

at::Tensor reshape(const at::Tensor& tensor, std::initializer_list<Size> shape) {
  std::vector<int64_t> now;
  for (const Size& size : shape) {
    if (size.traced.defined()) {
      torch::jit::tracer::ArgumentStash::stashIntArrayRefElem("shape", shape.size(), now.size(), size.traced);
    }
    now.push_back(size.value);
  }
  return at::reshape(tensor, now);
}

at::Tensor resize_nearest(const at::Tensor& maps, const Size& height, const Size& width) {
  std::size_t axis = 0;
  for (const Size* size : {&height, &width}) {
    if (size->traced.defined()) {
      torch::jit::tracer::ArgumentStash::stashIntArrayRefElem("output_size", 2, axis, size->traced);
    }
    ++axis;
  }
  return at::upsample_nearest2d(maps, {height.value, width.value}, std::nullopt, std::nullopt);
}

}  // namespace tenon::nn
