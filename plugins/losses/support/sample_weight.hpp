// The optional port "weight" of a loss: how much each sample counts.
#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include <tenon/ports.hpp>
#include <tenon/tensors.hpp>

namespace tenon::losses {

/// One of it belongs to a loss, which asks it in weight() and in sum().
class SampleWeight {
 public:
  /// "weight": floating [N], optional.
  [[nodiscard]] static Port port();

  /// What weight() returns: Σ weights in float64 where the port is wired; without it the number of samples, undefined
  /// when nothing of the batch is wired. \throws Error (kData) for a weight that is negative or not finite, looked for on
  /// the host alone; (kConfig) when sum() got a weight that is no field of the batch.
  [[nodiscard]] at::Tensor total(const Tensors& batch_in);

  /// For sum(): the weights [N], or nullptr when none are wired. `of` is the port `name` with N samples.
  /// \throws Error (kConfig) for another shape, and when total() got no weight.
  [[nodiscard]] const at::Tensor* in(const Tensors& in, const char* name, const at::Tensor& of);

 private:
  void require_known() const;

  std::optional<bool> in_batch_;  // as the last call of total() had it
  std::optional<bool> in_sum_;    // as the last call of in() had it
};

}  // namespace tenon::losses
