// Asking schedules for their factors, also those of a run that is cut short.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

#include <engine/components.hpp>
#include <tenon/components/schedule.hpp>

namespace tenon::engine {

/// How long a run is that the command line cuts short, without that.
struct UncutRun {
  int64_t steps = 0;
  int64_t steps_per_epoch = 0;
};

/// [trainer]
class Schedules {
 public:
  explicit Schedules(const Components& components) : components_(components) {}

  /// Once, before any factor, for a run that the command line cuts short. A schedule that does not fit such a run, asked
  /// at its beginning, is told from then on where the run would be without the cut, in proportion: so all its spans
  /// shrink as the run does. Where the uncut run is too short as well, it is told so of one that is twice as long, and so
  /// on. \throws PlacedError for a schedule that fits no run.
  void shorten(const core::Node& schedule, const Progress& beginning, const UncutRun& uncut);

  /// What a schedule says for this place. \throws PlacedError when that is no factor, or the schedule does not fit.
  [[nodiscard]] double factor(const core::Node& schedule, const Progress& progress) const;

  /// One line about each schedule that is shortened.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  [[nodiscard]] bool fits(const core::Node& schedule, const Progress& beginning, std::exception_ptr& refusal) const;
  [[nodiscard]] Progress seen_by(const core::Node& schedule, Progress progress) const;

  const Components& components_;
  std::unordered_map<std::string, UncutRun> scales_;  // of those that are shortened
  std::vector<std::string> notes_;
};

}  // namespace tenon::engine
