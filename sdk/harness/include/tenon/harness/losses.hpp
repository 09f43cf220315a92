// Losses on tensors of a test.
#pragma once

#include <ATen/core/Tensor.h>

#include <tenon/components/loss.hpp>

namespace tenon::harness {

/// The sum over a batch, as in training with one rank; gradients flow to the inputs.
/// \throws Error (kPlugin) when it is no 0-dim floating tensor.
[[nodiscard]] at::Tensor sum_of(Loss& loss, const Tensors& in);

/// The weight of a batch of `samples`, where the ports in `in` are wired to fields of the batch. An undefined weight
/// reads as the number of samples. \throws Error (kPlugin) when it is no 0-dim tensor, or negative.
[[nodiscard]] double weight_of(Loss& loss, const Tensors& in, int64_t samples);

}  // namespace tenon::harness
