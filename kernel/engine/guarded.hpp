// Precision policies and collectives are called from many places: here each call leaves its breadcrumb.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <core/plugin/loader.hpp>
#include <core/process/breadcrumb.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::engine {

/// The policy of a pipeline, or one that this object owns. Its state is visited through the component itself. [trainer]
class GuardedPrecision final : public Precision {
 public:
  /// `policy` outlives this object.
  void guard(Precision& policy, const core::Callee* callee) noexcept {
    policy_ = &policy;
    callee_ = callee;
  }

  /// A policy that the pipeline leaves to the kernel.
  void own(core::ComponentHandle handle) {
    owned_ = std::move(handle);
    guard(owned_.as<Precision>(), owned_.callee());
  }

  [[nodiscard]] at::ScalarType storage() const override {
    const core::Entered entered(callee_, "storage");
    return policy_->storage();
  }
  [[nodiscard]] std::optional<at::ScalarType> autocast() const override {
    const core::Entered entered(callee_, "autocast");
    return policy_->autocast();
  }
  [[nodiscard]] double scale() const override {
    const core::Entered entered(callee_, "scale");
    return policy_->scale();
  }
  void update(bool finite) override {
    const core::Entered entered(callee_, "update");
    policy_->update(finite);
  }

 private:
  core::ComponentHandle owned_;
  Precision* policy_ = nullptr;
  const core::Callee* callee_ = nullptr;
};

/// The collectives of one rank, which outlive this object. [trainer]
class GuardedCollectives final : public Collectives {
 public:
  GuardedCollectives(Collectives& ranks, const core::Callee* callee) noexcept : ranks_(ranks), callee_(callee) {}

  [[nodiscard]] int64_t rank() const noexcept override { return ranks_.rank(); }
  [[nodiscard]] int64_t world() const noexcept override { return ranks_.world(); }
  void all_reduce(at::Tensor& tensor, Op op) override {
    const core::Entered entered(callee_, "all_reduce");
    ranks_.all_reduce(tensor, op);
  }
  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    const core::Entered entered(callee_, "all_gather");
    return ranks_.all_gather(tensor);
  }
  void broadcast(at::Tensor& tensor, int64_t root) override {
    const core::Entered entered(callee_, "broadcast");
    ranks_.broadcast(tensor, root);
  }
  void barrier() override {
    const core::Entered entered(callee_, "barrier");
    ranks_.barrier();
  }

 private:
  Collectives& ranks_;
  const core::Callee* callee_;
};

}  // namespace tenon::engine
