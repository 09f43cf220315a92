// schedule:plateau: lowers the value when a metric has not improved for a number of validations.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <tenon/components/schedule.hpp>
#include <tenon/registration.hpp>

namespace tenon::schedules {

enum class ThresholdMode { kRel, kAbs };
TENON_ENUM(ThresholdMode, "rel", "abs")

struct PlateauParams {
  std::string metric;
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  ThresholdMode threshold_mode = ThresholdMode::kRel;
  int64_t cooldown = 0;
  double floor = 0;

  TENON_PARAMS(
      PlateauParams,
      field(&PlateauParams::metric, "metric", "Metric that has to improve: a node, or a log key")
          .required()
          .metric_reference(),
      field(&PlateauParams::factor, "factor", "What the value is multiplied by on a plateau").above(0).below(1),
      field(&PlateauParams::patience, "patience",
            "Validations in a row without a better value that are borne; the next one lowers the value")
          .min(0),
      field(&PlateauParams::threshold, "threshold", "How much better a value has to be to count").min(0),
      field(&PlateauParams::threshold_mode, "threshold_mode",
            "Whether the threshold is a share of the best value (rel) or in the metric's unit (abs)"),
      field(&PlateauParams::cooldown, "cooldown", "Validations after a reduction that are not counted").min(0),
      field(&PlateauParams::floor, "floor", "Least factor, a share of the configured value").min(0).max(1))
};

/// After each validation, with the metric's own direction:
///   better?    best ← value, bad ← 0; else bad ← bad + 1
///   cooling?   cooling ← cooling − 1, bad ← 0
///   bad > patience?  factor ← max(factor·this factor, floor), cooling ← cooldown, bad ← 0
/// as torch's ReduceLROnPlateau. A value is better when it beats the best by more than the threshold (abs), or by more
/// than threshold·|best| (rel; torch leaves out the bars: with a best below 0, worse values count as better there). The
/// first finite value is better; one that is not finite never is.
class Plateau final : public Schedule {
 public:
  explicit Plateau(PlateauParams params) : params_(std::move(params)) {}

  static std::vector<std::string> traits() { return {"deterministic", "stateful"}; }

  [[nodiscard]] double factor(const Progress& progress) override {
    if (progress.metric) observe(*progress.metric);
    return factor_;
  }

  void state(StateIo& io) override {
    io.io("factor", factor_);
    io.io("seen", seen_);
    io.io("best", best_);
    io.io("bad", bad_);
    io.io("cooling", cooling_);
  }

 private:
  void observe(const Observation& observed) {
    if (improves(observed)) {
      seen_ = true;
      best_ = observed.value;
      bad_ = 0;
    } else {
      ++bad_;
    }
    if (cooling_ > 0) {
      --cooling_;
      bad_ = 0;
    }
    if (bad_ <= params_.patience) return;
    factor_ = std::max(factor_ * params_.factor, params_.floor);
    cooling_ = params_.cooldown;
    bad_ = 0;
  }

  [[nodiscard]] bool improves(const Observation& observed) const {
    if (!std::isfinite(observed.value)) return false;
    if (!seen_) return true;
    const double margin =
        params_.threshold_mode == ThresholdMode::kRel ? params_.threshold * std::abs(best_) : params_.threshold;
    return observed.better == Direction::kMax ? observed.value > best_ + margin : observed.value < best_ - margin;
  }

  PlateauParams params_;
  double factor_ = 1;
  bool seen_ = false;  // a finite value has come; until then best_ means nothing
  double best_ = 0;
  int64_t bad_ = 0;
  int64_t cooling_ = 0;
};

TENON_COMPONENT(Plateau, PlateauParams, "plateau",
                "Multiplies the value by a factor each time a metric has not improved for some validations")

}  // namespace tenon::schedules
