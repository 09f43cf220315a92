// Factors, and the scale on which a schedule sees a run that is cut short.
#include <engine/schedules.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tenon::engine {

namespace {

constexpr int64_t kLongestRun = int64_t{1} << 40;  // steps; nobody makes as many

}  // namespace

bool Schedules::fits(const core::Node& schedule, const Progress& beginning, std::exception_ptr& refusal) const {
  try {
    static_cast<void>(factor(schedule, beginning));
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kConfig) throw;
    refusal = std::current_exception();
    return false;
  }
}

void Schedules::shorten(const core::Node& schedule, const Progress& beginning, const UncutRun& uncut) {
  std::exception_ptr refusal;
  if (fits(schedule, beginning, refusal)) return;
  std::exception_ptr later;
  UncutRun& scale = scales_[schedule.name] = uncut;
  while (!fits(schedule, beginning, later)) {
    if (scale.steps < 1 || scale.steps > kLongestRun) {
      scales_.erase(schedule.name);
      std::rethrow_exception(refusal);
    }
    scale.steps *= 2;
  }
  notes_.push_back(fmt::format(
      "schedule \"{}\" does not fit into {} step{}, to which the limit on the command line cuts the run: its "
      "spans are shortened in proportion, as from {} steps",
      schedule.name, beginning.planned, beginning.planned == 1 ? "" : "s", scale.steps));
}

double Schedules::factor(const core::Node& schedule, const Progress& progress) const {
  return components_.entering(schedule.name, "factor", "cannot tell its factor", [&] {
    const double value = components_.node<Schedule>(schedule.name).factor(seen_by(schedule, progress));
    if (!std::isfinite(value) || value < 0) {
      throw Error(ErrorCode::kPlugin, fmt::format("gave the factor {} after {} steps", value, progress.applied));
    }
    return value;
  });
}

Progress Schedules::seen_by(const core::Node& schedule, Progress progress) const {
  const auto scale = scales_.find(schedule.name);
  if (scale == scales_.end()) return progress;
  const UncutRun& uncut = scale->second;
  const int64_t planned = std::max<int64_t>(progress.planned, 1);
  // applied·steps/planned, rounded down
  progress.applied = progress.applied / planned * uncut.steps + progress.applied % planned * uncut.steps / planned;
  progress.planned = uncut.steps;
  progress.steps_per_epoch = uncut.steps_per_epoch;
  return progress;
}

}  // namespace tenon::engine
