// schedule:my_schedule: a value that falls by a power of what is left of the run.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <tenon/components/schedule.hpp>
#include <tenon/registration.hpp>

namespace {

// Declared once: reading, defaults, bounds, messages and the page of `tenon plugins show` follow from it.
struct MyScheduleParams {
  double power = 1;
  double last = 0;

  TENON_PARAMS(MyScheduleParams,
               tenon::field(&MyScheduleParams::power, "power", "1 falls evenly, more falls faster at first").above(0),
               tenon::field(&MyScheduleParams::last, "last", "Share of the configured value at the end of the run")
                   .min(0)
                   .max(1))
};

/// Before step k of n, from 0 on: last + (1 − last)·(1 − k/n)^power.
class MySchedule final : public tenon::Schedule {
 public:
  explicit MySchedule(const MyScheduleParams& params) : params_(params) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  // What the configured value, such as a learning rate, is multiplied by. Depends on progress alone, so that a resumed
  // run goes on as if it had never stopped.
  [[nodiscard]] double factor(const tenon::Progress& progress) override {
    const double planned = std::max(1.0, static_cast<double>(progress.planned));
    const double left = std::clamp(1 - static_cast<double>(progress.applied) / planned, 0.0, 1.0);
    return params_.last + (1 - params_.last) * std::pow(left, params_.power);
  }

 private:
  MyScheduleParams params_;
};

}  // namespace

TENON_COMPONENT(MySchedule, MyScheduleParams, "my_schedule", "Falls by a power of what is left of the run")
