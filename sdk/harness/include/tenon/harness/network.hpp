// Networks without an engine: built, given memory and numbers, and run. Needs Tenon::harness_torch, as all headers of the
// harness over ATen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <tenon/components/distributed.hpp>
#include <tenon/components/model.hpp>

namespace tenon::harness {

/// Initial values for all slots, keyed by name; parameters take gradients. Floating buffers are at least as wide as
/// `dtype`, as in an engine that keeps its parameters in it.
void materialize(nn::Module& root, uint64_t seed, at::ScalarType dtype = at::kFloat);

/// One forward pass, keyed by `key`.
[[nodiscard]] Tensors run(nn::Module& root, Collectives& ranks, const Tensors& in, bool training, uint64_t key = 1);

/// The same with one rank.
[[nodiscard]] Tensors run(nn::Module& root, const Tensors& in, bool training, uint64_t key = 1);

/// Builds the model for these inputs and gives it memory: what an engine does before the first step.
/// \throws Error (kPlugin) when the model took memory of its own while it was built.
void build(Model& model, const Spec& in, uint64_t seed = 1, at::ScalarType dtype = at::kFloat);

/// Full names, in order of registration.
[[nodiscard]] std::vector<std::string> param_names(nn::Module& root);

/// Parameters, and buffers behind them, by full name; they share the slots' memory.
[[nodiscard]] Tensors tensors_of(nn::Module& root);

/// The spec of tensors, with the first axis of those that have one as "N".
[[nodiscard]] Spec spec_of(const Tensors& tensors);

}  // namespace tenon::harness
