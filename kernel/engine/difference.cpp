// Differences in double precision; the tolerance follows the size of the numbers.
#include <engine/difference.hpp>

#include <algorithm>
#include <cstring>

#include <ATen/ATen.h>

#include <engine/step_graph.hpp>

namespace tenon::engine {

Difference difference(int64_t batch, const std::string& output, const at::Tensor& got, const at::Tensor& wanted,
                      const Verify& verify) {
  Difference result;
  result.batch = batch;
  result.output = output;
  result.shape = describe(wanted);
  if (wanted.numel() == 0) return result;
  const at::Tensor a = got.to(at::kDouble);
  const at::Tensor b = wanted.to(at::kDouble);
  const at::Tensor size = b.abs();
  result.magnitude = size.masked_fill(size.isinf(), 0).max().item<double>();
  const at::Tensor far = (a - b).abs().masked_fill(a.eq(b), 0);  // equal infinities give NaN otherwise
  result.max_abs = far.max().item<double>();
  result.max_rel = (far / size).masked_fill(a.eq(b), 0).max().item<double>();
  if (at::isFloatingType(wanted.scalar_type())) {
    const at::Tensor allowed = size * verify.rtol + verify.atol * std::min(1.0, result.magnitude);
    result.within = a.eq(b).logical_or(far.le(allowed).logical_and(size.isfinite())).all().item<bool>();
  } else {
    result.within = at::equal(got, wanted);
  }
  return result;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  const at::Tensor left = a.contiguous();
  const at::Tensor right = b.contiguous();
  return left.nbytes() == 0 || std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0;
}

}  // namespace tenon::engine
