// metric:iou: intersection over union of each class, averaged over the classes.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <support/class_counts.hpp>
#include <tenon/components/metric.hpp>
#include <tenon/registration.hpp>

namespace tenon::metrics {

struct IouParams {
  int64_t ignore = 255;

  TENON_PARAMS(IouParams, field(&IouParams::ignore, "ignore", "Value of pixels in the mask that do not count"))
};

/// For logits [N, C, H, W] and masks [N, H, W], over all pixels that count, with the number of pixels of each class in
/// the masks t, among the predictions p and in both at once h: intersection over union h/(t + p − h). The mean and the
/// lowest are over the classes that occur among masks or predictions, as in scikit-learn's jaccard_score(average="macro");
/// pixel accuracy is Σ h/Σ t. The prediction is the highest logit, of equal ones the first; a pixel with a logit that is
/// NaN predicts no class. One logit x for each pixel means class 1 where x > 0, and else class 0.
class Iou final : public Metric {
 public:
  explicit Iou(const IouParams& params) : counts_(params.ignore, "ignore") {}

  static Ports ports() { return {{logits_port(), target_port()}, {}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<MetricOutput> outputs() {
    return {{"mean_iou", Direction::kMax}, {"lowest_iou", Direction::kMax}, {"pixel_accuracy", Direction::kMax}};
  }

  void reset() override { counts_.reset(); }

  void update(const Tensors& in) override { counts_.add(in); }

  [[nodiscard]] std::vector<double> compute(Collectives& ranks) override {
    const auto [hits, wanted, predicted] = counts_.totals(ranks);
    const auto sum = [](const std::vector<int64_t>& counts) {
      return std::accumulate(counts.begin(), counts.end(), int64_t{0});
    };
    const int64_t pixels = sum(wanted);
    if (pixels == 0) return std::vector<double>(3, std::numeric_limits<double>::quiet_NaN());
    double total = 0;
    double lowest = 1;
    int64_t occurring = 0;
    for (std::size_t c = 0; c < hits.size(); ++c) {
      const int64_t either = wanted[c] + predicted[c] - hits[c];
      if (either == 0) continue;
      const double overlap = static_cast<double>(hits[c]) / static_cast<double>(either);
      total += overlap;
      lowest = std::min(lowest, overlap);
      ++occurring;
    }
    return {total / static_cast<double>(occurring), lowest,
            static_cast<double>(sum(hits)) / static_cast<double>(pixels)};
  }

 private:
  ClassCounts counts_;
};

TENON_COMPONENT(Iou, IouParams, "iou",
                "Mean and lowest intersection over union of the classes, and the share of pixels that are right")

}  // namespace tenon::metrics
