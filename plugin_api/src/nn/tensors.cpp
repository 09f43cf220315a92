// Named tensors, and element types in libtorch's words.
#include <tenon/tensors.hpp>

#include <ATen/ATen.h>

#include <tenon/error.hpp>

namespace tenon {

const at::Tensor& Tensors::at(std::string_view name) const {
  if (const at::Tensor* const found = find(name)) return *found;
  std::string known;
  for (const Entry& entry : entries_) known += (known.empty() ? "" : ", ") + entry.first;
  throw Error(ErrorCode::kConfig,
              "there is no tensor \"" + std::string(name) + "\" here; there are: " + (known.empty() ? "none" : known));
}

const at::Tensor* Tensors::find(std::string_view name) const noexcept {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

void Tensors::set(std::string_view name, at::Tensor tensor) {
  for (Entry& entry : entries_) {
    if (entry.first == name) {
      entry.second = std::move(tensor);
      return;
    }
  }
  entries_.emplace_back(name, std::move(tensor));
}

at::ScalarType scalar_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool: return at::kBool;
    case Dtype::kUint8: return at::kByte;
    case Dtype::kInt8: return at::kChar;
    case Dtype::kInt16: return at::kShort;
    case Dtype::kInt32: return at::kInt;
    case Dtype::kInt64: return at::kLong;
    case Dtype::kFloat16: return at::kHalf;
    case Dtype::kBfloat16: return at::kBFloat16;
    case Dtype::kFloat32: return at::kFloat;
    case Dtype::kFloat64: return at::kDouble;
  }
  throw Error(ErrorCode::kConfig, "an unknown element type");
}

Dtype dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kBool: return Dtype::kBool;
    case at::kByte: return Dtype::kUint8;
    case at::kChar: return Dtype::kInt8;
    case at::kShort: return Dtype::kInt16;
    case at::kInt: return Dtype::kInt32;
    case at::kLong: return Dtype::kInt64;
    case at::kHalf: return Dtype::kFloat16;
    case at::kBFloat16: return Dtype::kBfloat16;
    case at::kFloat: return Dtype::kFloat32;
    case at::kDouble: return Dtype::kFloat64;
    default:
      throw Error(ErrorCode::kConfig, std::string("the element type ") + c10::toString(type) + " is not supported");
  }
}

}  // namespace tenon
