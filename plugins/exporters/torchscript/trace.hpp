// A network as a TorchScript module, by tracing one evaluation.
#pragma once

#include <string>
#include <vector>

#include <torch/csrc/jit/api/module.h>

#include <tenon/nn/module.hpp>
#include <tenon/tensors.hpp>

namespace tenon::exporters {

/// Runs `root` on `example`, in evaluation and without gradients, and records it as `forward`, whose arguments are the
/// example's tensors in order and whose result is the one output, or a tuple of them. Parameters and buffers are copies
/// under the network's own names. `root` is left as it was, also after an exception.
/// \throws Error (kVerification) naming the module that cannot be recorded.
[[nodiscard]] torch::jit::Module trace(nn::Module& root, const Tensors& example,
                                       const std::vector<std::string>& outputs);

}  // namespace tenon::exporters
