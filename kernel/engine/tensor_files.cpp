// Tensors to files and back.
#include <engine/tensor_files.hpp>

#include <vector>

#include <ATen/ATen.h>

#include <core/storage/safetensors.hpp>

namespace tenon::engine {

void write_tensors(const std::filesystem::path& file, const Tensors& tensors) {
  std::vector<at::Tensor> host;
  std::vector<core::NamedArray> arrays;
  for (const auto& [name, tensor] : tensors) {
    host.push_back(tensor.detach().cpu().contiguous());
    arrays.push_back({name, Array{host.back().data_ptr(), dtype_of(tensor.scalar_type()), {}}});
  }
  for (std::size_t i = 0; i < host.size(); ++i)
    arrays[i].array.shape = {host[i].sizes().data(), host[i].sizes().size()};
  core::write_safetensors(file, arrays);
}

Tensors read_tensors(const std::filesystem::path& file) {
  const core::Safetensors saved = core::Safetensors::read(file);
  Tensors tensors;
  for (const core::Safetensors::Tensor& each : saved.tensors()) {
    tensors.set(each.name, at::from_blob(each.array.data, each.shape, scalar_type(each.array.dtype)).clone());
  }
  return tensors;
}

}  // namespace tenon::engine
