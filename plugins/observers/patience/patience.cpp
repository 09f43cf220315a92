// observer:patience: stops the run when a metric has not improved for a number of validations.
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/observer.hpp>
#include <tenon/registration.hpp>

namespace tenon::observers {

struct PatienceParams {
  std::string metric;
  int64_t patience = 10;

  TENON_PARAMS(PatienceParams,
               field(&PatienceParams::metric, "metric", "Metric that has to improve: a node, or a log key")
                   .required()
                   .metric_reference(),
               field(&PatienceParams::patience, "patience",
                     "Validations in a row without a better value, then the run ends")
                   .min(1))
};

/// Better is what tenon::better says: a tie is no improvement, and neither is a value that is not finite.
class Patience final : public Observer, public Controller {
 public:
  explicit Patience(PatienceParams params) : params_(std::move(params)) {}

  static std::vector<std::string> traits() { return {"deterministic", "stateful"}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Controller*>(this) : nullptr;
  }

  void on(const Event& /*event*/) override {}

  void at_step(const Progress& progress, Requests& requests) override {
    if (!progress.metric) return;
    const double best = seen_ ? best_ : std::numeric_limits<double>::quiet_NaN();
    if (better(progress.metric->value, best, progress.metric->better)) {
      seen_ = true;
      best_ = progress.metric->value;
      best_step_ = progress.applied;
      waited_ = 0;
      return;
    }
    if (++waited_ >= params_.patience) requests.stop(reason());
  }

  void state(StateIo& io) override {
    io.io("seen", seen_);
    io.io("best", best_);
    io.io("best_step", best_step_);
    io.io("waited", waited_);
  }

 private:
  [[nodiscard]] std::string reason() const {
    const std::string validations = std::to_string(waited_) + (waited_ == 1 ? " validation" : " validations");
    if (!seen_) return params_.metric + " was not finite in " + validations;
    char best[32];
    std::snprintf(best, sizeof(best), "%.6g", best_);
    return params_.metric + " has not improved for " + validations + " (best " + best + " at step " +
           std::to_string(best_step_) + ")";
  }

  PatienceParams params_;
  bool seen_ = false;  // a finite value has come; until then the next two mean nothing
  double best_ = 0;
  int64_t best_step_ = 0;
  int64_t waited_ = 0;
};

TENON_COMPONENT(Patience, PatienceParams, "patience",
                "Stops the run when a metric has not improved for some validations")

}  // namespace tenon::observers
