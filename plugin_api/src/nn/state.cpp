// Tensors through StateIo.
#include <tenon/nn/state.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <tenon/error.hpp>
#include <tenon/spec.hpp>
#include <tenon/tensors.hpp>

namespace tenon::nn {
namespace {

std::string spelled(Dtype dtype, std::span<const int64_t> shape) {
  FieldSpec field{"", dtype, {}};
  for (const int64_t size : shape) field.shape.emplace_back(size);
  return to_string(field);
}

}  // namespace

void io(StateIo& io, std::string_view name, at::Tensor& tensor) {
  const Dtype dtype = dtype_of(tensor.scalar_type());
  const std::span<const int64_t> shape(tensor.sizes().data(), tensor.sizes().size());
  if (io.saving()) {
    const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
    Array array{host.data_ptr(), dtype, shape};
    return io.io(name, array);
  }
  Array saved;
  io.io(name, saved);
  if (saved.dtype != dtype || !std::equal(shape.begin(), shape.end(), saved.shape.begin(), saved.shape.end())) {
    throw Error(ErrorCode::kCheckpoint, "\"" + std::string(name) + "\" was saved as " +
                                            spelled(saved.dtype, saved.shape) + " and is needed as " +
                                            spelled(dtype, shape));
  }
  const c10::NoGradGuard no_grad;
  tensor.copy_(at::from_blob(saved.data, tensor.sizes(), at::TensorOptions(tensor.scalar_type())));
}

}  // namespace tenon::nn
