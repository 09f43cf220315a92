// Brings values back to the scale that they had before a transform rescaled them.
#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>

#include <engine/components.hpp>

namespace tenon::engine {

/// The tensor of a metric's port, or of an output of predictions where `node` is empty, on the scale of the data: every
/// rescaling that the path names for it is undone, in order, in float64. The tensor as it is where there is none.
/// \throws PlacedError naming the transform. [trainer]
[[nodiscard]] at::Tensor undo_rescaling(const Components& components, const core::Path& path, std::string_view node,
                                        std::string_view port, const at::Tensor& tensor);

}  // namespace tenon::engine
