// Tensors and plain arrays.
#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>

#include <tenon/array.hpp>
#include <tenon/state.hpp>

namespace tenon::nn {

/// Saves or restores a defined tensor by StateIo::io. Restoring copies into the tensor's own memory, on its device.
/// \throws Error (kCheckpoint) when type or shape differ from what was saved, naming both. [trainer]
void io(StateIo& io, std::string_view name, at::Tensor& tensor);

}  // namespace tenon::nn
