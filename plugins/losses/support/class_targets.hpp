// Targets that name classes: which of them count, and how much.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

namespace tenon::losses {

/// Class weights and a target that does not count, for targets of int64.
class ClassTargets {
 public:
  /// An empty list weighs all classes alike. `ignore_name` is the parameter that holds `ignored`, for messages.
  /// \throws Error (kConfig) at "/class_weights" when all weights are 0.
  ClassTargets(std::vector<double> weights, int64_t ignored, const char* ignore_name);

  /// Σ of the weights of the targets that count, in float64. \throws Error (kData) for a target that is no class, where
  /// weights are given.
  [[nodiscard]] at::Tensor total(const at::Tensor& target);

  /// \throws Error (kData) for a target that is none of `classes` classes. Reads the values on the host alone: elsewhere
  /// that would wait for the device, and libtorch's own assertion serves.
  void check(const at::Tensor& target, int64_t classes) const;

  /// The weights on the device and in the type of `logits`; none where all weigh alike. \throws Error (kConfig) when
  /// there are not `classes` of them.
  [[nodiscard]] std::optional<at::Tensor> weights(const at::Tensor& logits, int64_t classes);

  [[nodiscard]] int64_t ignored() const noexcept { return ignored_; }

 private:
  [[nodiscard]] const at::Tensor& on(const at::TensorOptions& options);

  std::vector<double> weights_;
  int64_t ignored_;
  const char* ignore_name_;
  at::Tensor for_total_;  // two places, since total() counts in float64
  at::Tensor for_sum_;
};

}  // namespace tenon::losses
