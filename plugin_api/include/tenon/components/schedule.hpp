// Schedules: a factor on a configured value, as a function of progress.
#pragma once

#include <cstdint>
#include <optional>

#include <tenon/component.hpp>
#include <tenon/ports.hpp>

namespace tenon {

/// A metric's newest value, right after the validation that found it.
struct Observation {
  double value = 0;
  Direction better = Direction::kMax;
};

/// How far training is. An applied step is an optimizer update that happened; skipped ones do not count.
struct Progress {
  int64_t applied = 0;                ///< Steps applied so far.
  int64_t planned = 0;                ///< Steps that the run is going to take, unless it stops early: what "end" means.
  int64_t steps_per_epoch = 0;        ///< Steps of a full epoch.
  int64_t samples_per_step = 0;       ///< Samples that one full step sees, over all ranks and micro-batches.
  int64_t epoch = 0;                  ///< Counts from 0.
  std::optional<Observation> metric;  ///< Only for a component that refers to a metric, and only when it is new.
};

/// Says by what factor the configured value of each group is multiplied. The engine asks once before training, once
/// before every update (a step of several phases has several), with `applied` = the number of steps before it, and once
/// with a metric after the validation that found it. A pure function of progress and of the state that state(io)
/// visits.
class Schedule : public Component {
 public:
  static constexpr const char* kInterface = "tenon.schedule";
  static constexpr uint32_t kRevision = 1;

  /// Finite, at least 0. \throws Error (kConfig) when the parameters do not fit the run's length, naming both.
  /// [trainer]
  [[nodiscard]] virtual double factor(const Progress& progress) = 0;
};

}  // namespace tenon
