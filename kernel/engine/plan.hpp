// The plan: networks built and tried on the meta device before any memory is spent or any item read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <engine/components.hpp>
#include <engine/feed.hpp>
#include <engine/step_graph.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::engine {

/// What the plan could not try on the meta device, with the reason, by node. Such a model is tried on a small batch in
/// real memory once it has some.
using Untried = std::map<std::string, std::string>;

/// Values of one path by node, on the meta device.
using Tried = std::map<std::string, Values, std::less<>>;

/// Builds the networks of all paths and runs them, and the losses, on tensors without memory. `feeds` are those of the
/// paths, fit first; nothing is asked of other ranks. \throws PlacedError naming the node, its inputs with their shapes,
/// and the module. [trainer]
/// What came of it goes to `tried` by the paths' names, where it is not nullptr.
[[nodiscard]] Untried plan_networks(Components& components, const std::vector<const Feed*>& feeds,
                                    const Precision& precision, Tried* tried = nullptr);

/// What an output of a tried model will be: the trial batch's axis stands for any batch, "N".
[[nodiscard]] FieldSpec output_field(const at::Tensor& tensor, const std::string& port);

/// Runs the path on a batch of zeros in real memory, in evaluation, changing nothing. For what plan_networks left out.
void try_on_zeros(const Components& components, const Feed& feed, const Precision& precision, c10::Device device);

}  // namespace tenon::engine
