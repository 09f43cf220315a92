// The networks of a run: built on the meta device, then given memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <core/storage/checkpoint.hpp>
#include <engine/components.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/model.hpp>
#include <tenon/components/optimizer.hpp>

namespace tenon::engine {

/// Calls `visit(node, model)` for every model that has a component of its own, in the order of the graph. [trainer]
template <class Visit>
void visit_models(const Components& components, const Visit& visit) {
  for (const core::Node& node : components.graph().nodes) {
    if (node.kind == "model" && owns_component(node)) visit(node, components.node<Model>(node.name));
  }
}

/// One slot of a network under its full name, "net.conv1.weight".
struct NamedParam {
  std::string name;
  nn::Param* slot;
};

/// The parameters of one group of one optimizer, before they have memory.
struct PlannedGroup {
  core::Json with;  ///< What the group sets; an object.
  std::vector<NamedParam> params;
};

/// All parameters of the models under `of`, by the optimizer's groups: first match wins, the rest comes last; empty
/// groups are left out. \throws PlacedError at a glob that matches nothing, with the names there are.
[[nodiscard]] std::vector<PlannedGroup> plan_groups(const Components& components, const core::Node& optimizer);

/// True when `name` matches a glob of literal characters, "*" (any run of characters) and "?" (one).
[[nodiscard]] bool glob_match(std::string_view glob, std::string_view name) noexcept;

/// Names and tensors of one model, "conv1.weight", parameters and buffers. The tensors share the slots' memory.
[[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> model_tensors(Model& model);

/// Gives each planned group one flat buffer for parameters and one for gradients, lets the slots view them, and fills
/// in initial values keyed by (seed, name). The result is what an optimizer attaches to. `hypers`: name and configured
/// value of each schedulable parameter, in order. [trainer]
[[nodiscard]] ParamGroup materialize(const PlannedGroup& planned,
                                     const std::vector<std::pair<std::string, double>>& hypers, uint64_t seed,
                                     at::TensorOptions options);

/// Gives the buffers of a model memory on the device and their first values; floating ones at least as wide as `options` says.
/// [trainer]
void materialize_buffers(Model& model, at::TensorOptions options);

/// Gives the parameters of a model that nobody trains memory and their first values, keyed by (seed, name) as
/// `materialize` does; `node` is its name. Its buffers are materialize_buffers'. [trainer]
void materialize_frozen(Model& model, const std::string& node, uint64_t seed, at::TensorOptions options);

/// Overwrites the values of a model with those of the file that its node's "load" names. Floating values are converted to
/// the model's types. \throws PlacedError (kConfig) when names or shapes differ, saying how many matched, which did not
/// and what would. Nothing without "load". [trainer]
void load_first_values(const Components& components, const core::Node& node);

/// Gives parameters and buffers of a model memory without initial values: for a model that load_model fills and nobody
/// trains. [trainer]
void materialize_untrained(Model& model, at::TensorOptions options);

/// Overwrites the buffers of all models with those of rank 0, whose batch norm statistics are the ones that are saved
/// and that validation uses. Nothing with one rank. [trainer]
void share_buffers(const Components& components, Collectives& ranks);

/// Moves all values of a model to a device: for export, behind training. [trainer]
void move_model(Model& model, c10::Device device);

/// Overwrites a model's values with those of a checkpoint's "model.NODE". \throws Error (kCheckpoint) when names, types
/// or shapes differ, saying how many matched and which did not. [trainer]
void load_model(Model& model, const std::string& node, const core::Checkpoint& checkpoint);

}  // namespace tenon::engine
