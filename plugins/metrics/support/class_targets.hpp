// Targets that name classes: which of them count, and whether they are classes at all.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include <tenon/components/distributed.hpp>
#include <tenon/ports.hpp>

namespace tenon::metrics {

/// "logits": floating [N, …], of a shape that class_logits() takes, scores of the classes in "target".
[[nodiscard]] Port logits_port();

/// "target": class indices [N, …] of an integer type, or bool.
[[nodiscard]] Port target_port();

/// The range of all targets since reset(), on their device: what a batch holds is not read before require_classes().
class ClassTargets {
 public:
  /// `ignore_name` is the parameter that holds `ignored`, for messages.
  ClassTargets(int64_t ignored, const char* ignore_name) : ignored_(ignored), ignore_name_(ignore_name) {}

  void reset();

  /// Takes targets of int64, at least one, beside logits of `classes` classes; returns which of them count.
  at::Tensor add(const at::Tensor& target, int64_t classes);

  /// Checks the targets of all ranks. \throws Error (kData) for one that is no class. Every rank calls it.
  void require_classes(Collectives& ranks) const;

 private:
  int64_t ignored_;
  const char* ignore_name_;
  int64_t classes_ = 0;
  at::Tensor range_;  // minus the lowest target that counts, the highest one
};

}  // namespace tenon::metrics
