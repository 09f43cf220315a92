// Count, mean, deviation and extremes of many numbers, in one pass and in parts that are joined in order.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace tenon::engine {

/// Of the finite numbers among those added: Welford's recurrence (Technometrics 1962), and for joining two parts that
/// of Chan, Golub and LeVeque (1979). The same numbers in the same parts give the same bits.
struct Moments {
  int64_t count = 0;  ///< Finite ones.
  double mean = 0;
  double squares = 0;  ///< Σ (x − mean)²
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  int64_t not_finite = 0;
  int64_t first_not_finite = -1;  ///< The sample that held the first of them, or -1.

  void add(double value, int64_t sample) noexcept {
    if (!std::isfinite(value)) {
      if (not_finite++ == 0) first_not_finite = sample;
      return;
    }
    ++count;
    const double away = value - mean;
    mean += away / static_cast<double>(count);
    squares += away * (value - mean);
    minimum = value < minimum ? value : minimum;
    maximum = value > maximum ? value : maximum;
  }

  /// Adds what came later.
  void join(const Moments& later) noexcept {
    if (not_finite == 0) first_not_finite = later.first_not_finite;
    not_finite += later.not_finite;
    if (later.count == 0) return;
    const auto own = static_cast<double>(count);
    const auto other = static_cast<double>(later.count);
    const double away = later.mean - mean;
    mean += away * (other / (own + other));
    squares += later.squares + away * away * (own * other / (own + other));
    count += later.count;
    minimum = later.minimum < minimum ? later.minimum : minimum;
    maximum = later.maximum > maximum ? later.maximum : maximum;
  }

  /// Of the whole population: divided by `count`.
  [[nodiscard]] double deviation() const noexcept {
    return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
  }

  /// Two numbers at least, and all the same.
  [[nodiscard]] bool constant() const noexcept { return count > 1 && minimum == maximum; }
};

}  // namespace tenon::engine
