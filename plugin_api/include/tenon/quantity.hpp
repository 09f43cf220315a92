// Quantities with a unit, as pipelines spell them: "500 steps", "15 min", "25 MiB".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

/// A stretch of training: "500 steps", "1 epoch", "20000 samples".
struct Span {
  enum class Unit { kSteps, kEpochs, kSamples };

  int64_t count = 0;
  Unit unit = Unit::kSteps;

  /// The stretch in optimizer steps, rounded up, for epochs of `steps_per_epoch` steps of `samples_per_step` samples.
  [[nodiscard]] int64_t steps(int64_t steps_per_epoch, int64_t samples_per_step) const noexcept;
  friend bool operator==(const Span&, const Span&) = default;
};

/// A duration: "30 s", "15 min", "2 h".
struct Time {
  double seconds = 0;
  friend bool operator==(const Time&, const Time&) = default;
};

/// A size: "512 B", "25 MiB", "2 GB".
struct Bytes {
  int64_t count = 0;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

/// \throws Error (kConfig) that shows the right spelling: a bare number, an unknown unit, a negative or fractional
/// count.
[[nodiscard]] Span parse_span(std::string_view text);
[[nodiscard]] Time parse_time(std::string_view text);
[[nodiscard]] Bytes parse_bytes(std::string_view text);

/// The spelling that parses back to the same value.
[[nodiscard]] std::string to_string(const Span& span);
[[nodiscard]] std::string to_string(const Time& time);
[[nodiscard]] std::string to_string(const Bytes& bytes);

}  // namespace tenon
