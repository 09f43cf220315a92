// Ranks and what they do together.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include <tenon/component.hpp>

namespace tenon {

/// Operations that all ranks take part in, in the same order. Blocking. \throws Error (kDistributed). [trainer]
class Collectives {
 public:
  enum class Op { kSum, kMax, kMin };

  virtual ~Collectives() = default;

  [[nodiscard]] virtual int64_t rank() const noexcept = 0;
  [[nodiscard]] virtual int64_t world() const noexcept = 0;

  /// Combines `tensor` of all ranks in place; the same bytes on each.
  virtual void all_reduce(at::Tensor& tensor, Op op) = 0;

  /// The tensors of all ranks, in order of rank; shapes are equal.
  [[nodiscard]] virtual std::vector<at::Tensor> all_gather(const at::Tensor& tensor) = 0;

  /// Overwrites `tensor` with the root's, in place.
  virtual void broadcast(at::Tensor& tensor, int64_t root) = 0;

  virtual void barrier() = 0;
};

class Distributed : public Component {
 public:
  static constexpr const char* kInterface = "tenon.distributed";
  static constexpr uint32_t kRevision = 1;

  /// Meets the other ranks, once; the result belongs to this component. \throws Error (kDistributed). [trainer]
  [[nodiscard]] virtual Collectives& join() = 0;
};

}  // namespace tenon
