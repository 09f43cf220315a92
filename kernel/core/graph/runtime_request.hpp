// What a pipeline asks of the process that runs it.
#pragma once

#include <core/graph/graph.hpp>
#include <core/plugin/runtime.hpp>

namespace tenon::core {

/// A GPU may be used: its driver is there and so is libtorch's half for it. \throws Refusal without a libtorch.
[[nodiscard]] bool can_use_cuda();

/// \throws Refusal as can_use_cuda does.
[[nodiscard]] RuntimeRequest runtime_request(const RunSettings& run);

}  // namespace tenon::core
