// Meta kernels of relu, convolution, batch norm and index_select. In Python, libtorch registers these from Python code.
#include <engine/meta_kernels.hpp>

#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <torch/library.h>

namespace tenon::engine {
namespace {

at::Tensor relu(const at::Tensor& in) { return at::empty_like(in); }

at::Tensor& relu_in_place(at::Tensor& in) { return in; }

/// Shapes have been checked by at::convolution, which calls this one for devices without a backend.
at::Tensor convolution(const at::Tensor& in, const at::Tensor& weight, const std::optional<at::Tensor>& /*bias*/,
                       at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                       at::IntArrayRef output_padding, int64_t groups) {
  std::vector<int64_t> shape{in.size(0), transposed ? weight.size(1) * groups : weight.size(0)};
  for (int64_t axis = 0; axis < in.dim() - 2; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const int64_t kernel = dilation[i] * (weight.size(axis + 2) - 1) + 1;
    const int64_t size = in.size(axis + 2);
    shape.push_back(transposed ? (size - 1) * stride[i] - 2 * padding[i] + kernel + output_padding[i]
                               : (size + 2 * padding[i] - kernel) / stride[i] + 1);
  }
  return at::empty(shape, in.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm(const at::Tensor& in, const std::optional<at::Tensor>& weight,
                                                          const std::optional<at::Tensor>& /*bias*/,
                                                          const std::optional<at::Tensor>& running_mean,
                                                          const std::optional<at::Tensor>& /*running_var*/,
                                                          bool /*training*/, double /*momentum*/, double /*eps*/) {
  const int64_t channels = in.size(1);
  for (const std::optional<at::Tensor>& each : {weight, running_mean}) {
    TORCH_CHECK(!each || !each->defined() || each->numel() == channels, "batch norm over ",
                each ? each->numel() : channels, " channels cannot take an input with ", channels, " channels");
  }
  const at::Tensor statistics = at::empty({channels}, in.options());
  return {at::empty_like(in), statistics, at::empty_like(statistics)};
}

at::Tensor index_select(const at::Tensor& in, int64_t axis, const at::Tensor& index) {
  std::vector<int64_t> shape = in.sizes().vec();
  if (!shape.empty()) shape[static_cast<std::size_t>(at::maybe_wrap_dim(axis, in.dim()))] = index.numel();
  return at::empty(shape, in.options());
}

}  // namespace

void register_meta_kernels() {
  static torch::Library library = [] {
    torch::Library made(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__);
    made.impl("relu", relu);
    made.impl("relu_", relu_in_place);
    made.impl("convolution_overrideable", convolution);
    made.impl("native_batch_norm", batch_norm);
    made.impl("index_select", index_select);
    return made;
  }();
}

}  // namespace tenon::engine
