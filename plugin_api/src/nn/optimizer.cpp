// Parameter groups.
#include <tenon/components/optimizer.hpp>

#include <ATen/ATen.h>

#include <tenon/error.hpp>

namespace tenon {

const Hyper& ParamGroup::hyper(std::string_view name) const {
  for (const Hyper& each : hypers) {
    if (each.name == name) return each;
  }
  throw Error(ErrorCode::kPlugin, "\"" + std::string(name) + "\" is not declared schedulable");
}

at::Tensor ParamGroup::view_like(const at::Tensor& flat, std::size_t index) const {
  const at::Tensor& param = params.at(index);
  const int64_t offset = param.storage_offset() - flat_param.storage_offset();
  return flat.narrow(0, offset, param.numel()).view(param.sizes());
}

}  // namespace tenon
