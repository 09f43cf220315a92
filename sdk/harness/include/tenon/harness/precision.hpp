// Precision policies in training steps, without an engine.
#pragma once

#include <cstdint>
#include <vector>

#include <tenon/components/model.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::harness {

/// The loss scale before each of these steps, and behind them the one that is left; the policy is told after each step
/// whether its gradients were finite. \throws Error (kPlugin) for a scale that is not finite and above 0.
[[nodiscard]] std::vector<double> scales(Precision& policy, const std::vector<bool>& finite);

/// One forward pass on the CPU as under this policy: floating inputs in its storage type, the network under its autocast.
/// The network's parameters must be in that type, see `build`.
[[nodiscard]] Tensors run(const Precision& policy, nn::Module& root, const Tensors& in, bool training,
                          uint64_t key = 1);

/// A training step that was tried.
struct Attempt {
  double scale = 1;      ///< Of the loss.
  double loss = 0;       ///< Before the step, unscaled.
  bool applied = false;  ///< False where a gradient was not finite: then nothing moved.
};

/// Tries to train a network of two layers by plain gradient descent on the CPU, on data of its own, as an engine does
/// under this policy: parameters and inputs in its storage type, forward under its autocast, backward from the scaled
/// loss, gradients unscaled, a step that is left out where one of them is not finite, and the policy told.
/// \throws Error (kPlugin), like `scales`.
[[nodiscard]] std::vector<Attempt> train(Precision& policy, int64_t steps, uint64_t seed = 1);

}  // namespace tenon::harness
