// How often there is something to show.
#pragma once

#include <cstdint>
#include <optional>

#include <tenon/components/observer.hpp>

namespace tenon::observers {

/// Bounds the lines of a run, however long it is: for training about 200, and as many for what is saved and validated.
class Pace {
 public:
  /// `interval`: least seconds between two lines about training.
  explicit Pace(double interval) : interval_(interval) {}

  /// Whether training has a line now: the interval is over, and since the last line the run got an eighth older or
  /// 1/120 of its steps farther.
  [[nodiscard]] bool line_due(const Event& event) const noexcept;

  /// Training was told of.
  void told(const Event& event) noexcept { line_ = {event.step, event.elapsed}; }

  /// Whether a step at which something was saved or validated gets a row: the first 40, then one every 1/120 of the
  /// steps, and the last step.
  [[nodiscard]] bool row_due(const Event& event) const noexcept;

  /// Such a step has its row.
  void rowed(const Event& event) noexcept;

  /// Whether the bar is to be drawn: at most ten times a second.
  [[nodiscard]] bool draw_due(const Event& event) const noexcept;

  void drawn(const Event& event) noexcept { drawn_ = event.elapsed; }

 private:
  struct Mark {
    int64_t step = 0;
    double elapsed = 0;
  };

  double interval_;
  std::optional<Mark> line_;
  std::optional<double> drawn_;
  int64_t rows_ = 0;
  int64_t row_step_ = 0;
};

}  // namespace tenon::observers
