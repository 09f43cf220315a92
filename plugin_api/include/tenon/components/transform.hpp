// Transforms: sample in, sample out, on a loader thread.
#pragma once

#include <cstdint>

#include <tenon/component.hpp>
#include <tenon/random.hpp>
#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon {

/// All that a sample may know of time: epochs count from 0.
struct When {
  int64_t epoch = 0;
  int64_t epochs = 1;
};

/// A pure function of (sample, its own random stream, epoch).
class Transform : public Component {
 public:
  static constexpr const char* kInterface = "tenon.transform";
  static constexpr uint32_t kRevision = 1;

  /// The fields that come out for fields that go in, without a batch axis. Unchanged fields are handed on.
  /// \throws Error (kConfig) when a field is missing or has a type or shape that this transform cannot take. [trainer]
  [[nodiscard]] virtual Spec spec(const Spec& in) const = 0;

  /// Reads fields with `at`, writes the changed ones into memory from `allocate`; input memory is read-only. Fields
  /// that it does not allocate keep their value. `random` is keyed by (seed, node, epoch, sample, occurrence), so
  /// results do not depend on threads; without draws no number is made. Called concurrently from many threads.
  /// \throws Error (kData); kMemory, kStorage or std::bad_alloc where memory or file handles are at fault and not the
  /// sample, which then ends the run whatever the loader tolerates; whatever else it throws counts as kData. [loader]
  virtual void apply(Sample& sample, Rng& random, const When& when) const = 0;
};

}  // namespace tenon
