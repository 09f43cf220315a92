// What ranks must agree on before they merge their sums.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include <tenon/components/distributed.hpp>

namespace tenon::metrics {

/// The largest of all ranks' numbers: a rank that saw no sample learns the width of the others' tensors. `like` has the
/// device of this rank's sums, or is undefined.
[[nodiscard]] inline int64_t largest(Collectives& ranks, int64_t number, const at::Tensor& like) {
  const at::TensorOptions options = like.defined() ? like.options() : at::TensorOptions();
  at::Tensor shared = at::full({}, number, options.dtype(at::kLong));
  ranks.all_reduce(shared, Collectives::Op::kMax);
  return shared.item<int64_t>();
}

}  // namespace tenon::metrics
