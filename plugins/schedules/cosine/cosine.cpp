// schedule:cosine: linear warm-up, then half a cosine down to a floor.
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <tenon/components/schedule.hpp>
#include <tenon/registration.hpp>

namespace tenon::schedules {

struct CosineParams {
  Span warmup{0, Span::Unit::kSteps};
  std::optional<Span> until;
  double floor = 0;

  TENON_PARAMS(CosineParams,
               field(&CosineParams::warmup, "warmup",
                     "Length of the linear rise to the configured value, from the start"),
               field(&CosineParams::until, "until", "Where the floor is reached, counted from the start").word("end"),
               field(&CosineParams::floor, "floor", "Last factor, a share of the configured value").min(0).max(1))
};

/// Step k (from 0 on) of a warm-up of w steps and a curve until step e gets the factor
///   (k + 1)/w                                        for k < w: 1/w in the first step, 1 in the last of the warm-up,
///   floor + (1 − floor)/2·(1 + cos(π·(k − w)/(e − w)))  for w ≤ k < e: 1 at k = w,
///   floor                                            for k ≥ e: a run of e steps ends just before it.
/// (Loshchilov and Hutter, "SGDR", ICLR 2017, without restarts.) Steps are applied ones.
class Cosine final : public Schedule {
 public:
  explicit Cosine(const CosineParams& params) : params_(params) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] double factor(const Progress& progress) override {
    const int64_t warmup = params_.warmup.steps(progress.steps_per_epoch, progress.samples_per_step);
    const int64_t until =
        params_.until ? params_.until->steps(progress.steps_per_epoch, progress.samples_per_step) : progress.planned;
    require_fit(warmup, until);
    const int64_t step = progress.applied;
    if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
    if (step >= until) return params_.floor;
    const double share = static_cast<double>(step - warmup) / static_cast<double>(until - warmup);
    return params_.floor + (1 - params_.floor) * 0.5 * (1 + std::cos(std::numbers::pi * share));
  }

 private:
  void require_fit(int64_t warmup, int64_t until) const {
    if (warmup <= until) return;
    throw Error(ErrorCode::kConfig,
                "a warm-up of \"" + to_string(params_.warmup) + "\" (" + std::to_string(warmup) +
                    " steps) does not fit into a schedule until " +
                    (params_.until ? "\"" + to_string(*params_.until) + "\"" : std::string("the end of the run")) +
                    " (" + std::to_string(until) + " steps): shorten it or train longer",
                "/warmup");
  }

  CosineParams params_;
};

TENON_COMPONENT(Cosine, CosineParams, "cosine",
                "Linear warm-up to the configured value, then half a cosine down to a floor")

}  // namespace tenon::schedules
