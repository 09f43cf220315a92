// schedule:step: multiplies the value by gamma at regular or at listed points.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <tenon/components/schedule.hpp>
#include <tenon/registration.hpp>

namespace tenon::schedules {

struct StepParams {
  std::optional<Span> every;
  std::vector<Span> at;
  double gamma = 0.1;
  Span warmup{0, Span::Unit::kSteps};

  TENON_PARAMS(StepParams,
               field(&StepParams::every, "every",
                     "Distance of the points, the first of which is that far from the start")
                   .word("never"),
               field(&StepParams::at, "at", "The points themselves, counted from the start; instead of \"every\""),
               field(&StepParams::gamma, "gamma", "What the value is multiplied by at each point").above(0).max(1),
               field(&StepParams::warmup, "warmup",
                     "Length of the linear rise to the configured value, from the start"))
};

/// Step k (from 0 on) gets the factor gammaⁿ, n = points among 1 … k: ⌊k/every⌋, or those of `at` that are not behind
/// k, a point that is listed twice counting twice. In a warm-up of w steps, that times (k + 1)/w. Steps are applied
/// ones; a point in epochs or samples lies where that many are complete. (torch's StepLR and MultiStepLR.)
class Step final : public Schedule {
 public:
  explicit Step(StepParams params) : params_(std::move(params)) {
    if (!params_.every && params_.at.empty()) {
      throw Error(ErrorCode::kConfig,
                  R"(needs "every", such as "30 epochs", or "at", such as ["30 epochs", "60 epochs"])", "/every");
    }
    if (params_.every && !params_.at.empty()) {
      throw Error(ErrorCode::kConfig, "\"every\" and \"at\" both say where the points lie: give one of them", "/at");
    }
    if (params_.every) require_later(*params_.every, "/every");
    for (std::size_t i = 0; i < params_.at.size(); ++i) require_later(params_.at[i], "/at/" + std::to_string(i));
  }

  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] double factor(const Progress& progress) override {
    const auto steps = [&](const Span& span) {
      return span.steps(progress.steps_per_epoch, progress.samples_per_step);
    };
    int64_t points = 0;
    if (params_.every && steps(*params_.every) > 0) points = progress.applied / steps(*params_.every);
    for (const Span& point : params_.at) {
      if (steps(point) <= progress.applied) ++points;
    }
    const double factor = std::pow(params_.gamma, static_cast<double>(points));
    const int64_t warmup = steps(params_.warmup);
    if (progress.applied >= warmup) return factor;
    return factor * static_cast<double>(progress.applied + 1) / static_cast<double>(warmup);
  }

 private:
  static void require_later(const Span& span, const std::string& pointer) {
    if (span.count > 0) return;
    throw Error(ErrorCode::kConfig,
                "\"" + to_string(span) + "\" is the start itself: lower the configured value instead", pointer);
  }

  StepParams params_;
};

TENON_COMPONENT(Step, StepParams, "step", "The configured value, multiplied by gamma at regular or at listed points")

}  // namespace tenon::schedules
