// Ranks and what they do together.
#pragma once

#include <cstdint>
#include <string_view>
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

/// Rank 0 of 1, where every collective is the identity.
class OneRank final : public Collectives {
 public:
  [[nodiscard]] int64_t rank() const noexcept override { return 0; }
  [[nodiscard]] int64_t world() const noexcept override { return 1; }
  void all_reduce(at::Tensor& /*tensor*/, Op /*op*/) override {}
  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor}; }
  void broadcast(at::Tensor& /*tensor*/, int64_t /*root*/) override {}
  void barrier() override {}
};

class Distributed : public Component {
 public:
  static constexpr const char* kInterface = "tenon.distributed";
  static constexpr uint32_t kRevision = 1;

  /// Meets the other ranks, once; the result belongs to this component. Not called where the component has the ability
  /// InProcess. \throws Error (kDistributed). [trainer]
  [[nodiscard]] virtual Collectives& join() = 0;
};

/// Ability of a backend whose ranks are threads of one process. The engine makes one such component, starts a trainer
/// thread for each rank, and gives it that rank's collectives. A class that has it lists kAbility in
/// `static std::vector<std::string> abilities()` and returns its InProcess from ability().
class InProcess {
 public:
  static constexpr const char* kAbility = "tenon.in_process/1";

  /// At least 1. [any thread]
  [[nodiscard]] virtual int64_t ranks() const noexcept = 0;

  /// The collectives of rank `index`, 0 <= index < ranks(); they belong to this component. Each is used by one thread.
  /// [any thread]
  [[nodiscard]] virtual Collectives& rank(int64_t index) = 0;

  /// A rank has failed: every collective that waits, and every later one, throws Error (kDistributed) with `reason`. The
  /// first reason stays. [any thread]
  virtual void abandon(std::string_view reason) noexcept = 0;

 protected:
  ~InProcess() = default;
};

}  // namespace tenon
