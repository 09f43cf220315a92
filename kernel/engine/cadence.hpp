// When something that repeats is due.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <core/graph/graph.hpp>

namespace tenon::engine {

/// Where training stands behind a step, and how long its parts are.
struct Position {
  int64_t step = 0;     ///< Attempted steps.
  int64_t epoch = 0;    ///< Complete epochs.
  int64_t samples = 0;  ///< Samples seen.
  bool epoch_end = false;
};

/// Any of its spans and times triggers; the end of training is the caller's affair.
class Due {
 public:
  using Clock = std::chrono::steady_clock;

  /// `samples` were seen before the first step that it is asked about.
  explicit Due(core::Cadence cadence, int64_t samples = 0) : cadence_(std::move(cadence)), samples_(samples) {}

  /// True when it is due behind this step. `now` counts for times only; after a true answer they begin anew.
  [[nodiscard]] bool at(const Position& position, Clock::time_point now);

 private:
  core::Cadence cadence_;
  int64_t samples_;
  Clock::time_point since_ = Clock::now();
};

}  // namespace tenon::engine
