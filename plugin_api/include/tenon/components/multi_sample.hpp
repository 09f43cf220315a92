// Ability of transforms that make one sample of several: mosaic, mixup and cutmix before batching.
#pragma once

#include <cstdint>
#include <span>

#include <tenon/components/transform.hpp>
#include <tenon/random.hpp>
#include <tenon/sample.hpp>

namespace tenon {

/// A transform that needs further samples of its stream. The engine chooses them, uniformly from the whole dataset and
/// keyed by (seed, node, epoch, sample, occurrence), and brings each through the stages before this one, with random
/// numbers of its own. So the result depends on no thread, no rank and no batch.
class MultiSample {
 public:
  static constexpr const char* kAbility = "tenon.multi_sample/1";

  /// How many it needs besides the one that it changes; constant after construction, at least 0.
  [[nodiscard]] virtual int64_t others() const noexcept = 0;

  /// Called in place of Transform::apply. `others` are read with at() alone; their memory is constant and valid during
  /// the call. \throws as Transform::apply. [loader]
  virtual void apply_with(Sample& sample, std::span<const Sample* const> others, Rng& random,
                          const When& when) const = 0;

 protected:
  ~MultiSample() = default;
};

}  // namespace tenon
