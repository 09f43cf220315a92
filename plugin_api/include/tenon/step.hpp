// What a module may know of the step that it runs in.
#pragma once

#include <cstdint>
#include <unordered_map>

#include <ATen/core/Generator.h>

namespace tenon {

class Collectives;

namespace nn {
class Module;
}

/// The step's context, made by the engine for one forward pass. [trainer]
class StepContext {
 public:
  /// `key` stands for (seed, node, call, step, micro-batch, rank); `generator` is re-seeded at each use.
  StepContext(Collectives& ranks, int64_t micro_batch, bool training, uint64_t key, at::Generator generator)
      : ranks_(ranks), micro_batch_(micro_batch), training_(training), key_(key), generator_(std::move(generator)) {}

  [[nodiscard]] Collectives& ranks() const noexcept { return ranks_; }
  [[nodiscard]] int64_t micro_batch() const noexcept { return micro_batch_; }

  /// True in a training step, false in validation, test, prediction and export. A module also has a flag of its own:
  /// ask Module::trains(context), which is true when both are.
  [[nodiscard]] bool training() const noexcept { return training_; }

  /// A generator keyed by this context, the module's path and the number of earlier draws of that module in this pass.
  /// Valid until the next call.
  [[nodiscard]] at::Generator random(const nn::Module& module);

 private:
  Collectives& ranks_;
  int64_t micro_batch_;
  bool training_;
  uint64_t key_;
  at::Generator generator_;
  std::unordered_map<uint64_t, uint64_t> draws_;
};

}  // namespace tenon
