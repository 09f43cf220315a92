// How often each class was meant, predicted, and both at once.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include <support/class_targets.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/tensors.hpp>

namespace tenon::metrics {

/// One element a class.
struct ClassTotals {
  std::vector<int64_t> hits;       ///< Predicted where it was the target.
  std::vector<int64_t> wanted;     ///< Was the target.
  std::vector<int64_t> predicted;  ///< Was predicted.
};

/// Counts of logits [N, C, …] beside targets [N, …], on their device. The prediction is the highest logit, of equal ones
/// the first; a sample with a logit that is NaN predicts no class. One logit x for each target ([N] or [N, 1]) means class
/// 1 where x > 0, and else class 0. A target that is ignored counts nowhere, its prediction neither.
class ClassCounts {
 public:
  /// `ignore_name` is the parameter that holds `ignored`, for messages.
  ClassCounts(int64_t ignored, const char* ignore_name) : targets_(ignored, ignore_name) {}

  void reset();

  /// Takes the ports "logits" and "target"; reads no value. \throws Error (kConfig) for shapes that do not fit, and for
  /// another number of classes than before.
  void add(const Tensors& in);

  /// Sums over all ranks since reset(); empty vectors when no rank saw a sample. Every rank calls it. \throws Error
  /// (kData) for a target that is no class.
  [[nodiscard]] ClassTotals totals(Collectives& ranks) const;

 private:
  at::Tensor counts_;  // both at once, targets, predictions: each for every class
  ClassTargets targets_;
};

}  // namespace tenon::metrics
