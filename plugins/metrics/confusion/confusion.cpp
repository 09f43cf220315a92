// metric:confusion: precision, recall and F1 of each class, averaged over the classes.
#include <limits>
#include <string>
#include <vector>

#include <support/class_counts.hpp>
#include <tenon/components/metric.hpp>
#include <tenon/registration.hpp>

namespace tenon::metrics {

struct ConfusionParams {
  int64_t ignore_index = -100;

  TENON_PARAMS(ConfusionParams, field(&ConfusionParams::ignore_index, "ignore_index", "Target that does not count"))
};

/// For logits [N, C, …] and targets [N, …], with the number of targets t, of predictions p and of both at once h of each
/// class: precision h/p, recall h/t, F1 2h/(p + t), 0 where the divisor is 0. The macro values are means over the classes
/// that occur among targets or predictions, balanced accuracy is the mean recall of those that occur among targets:
/// scikit-learn's f1_score(average="macro", zero_division=0) and balanced_accuracy_score. The prediction is the highest
/// logit, of equal ones the first; a sample with a logit that is NaN predicts no class. One logit x for each target ([N]
/// or [N, 1]) means class 1 where x > 0, and else class 0.
class Confusion final : public Metric {
 public:
  explicit Confusion(const ConfusionParams& params) : counts_(params.ignore_index, "ignore_index") {}

  static Ports ports() { return {{logits_port(), target_port()}, {}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<MetricOutput> outputs() {
    return {{"macro_f1", Direction::kMax},
            {"balanced_accuracy", Direction::kMax},
            {"macro_precision", Direction::kMax},
            {"macro_recall", Direction::kMax}};
  }

  void reset() override { counts_.reset(); }

  void update(const Tensors& in) override { counts_.add(in); }

  [[nodiscard]] std::vector<double> compute(Collectives& ranks) override {
    const auto [hits, wanted, predicted] = counts_.totals(ranks);

    const auto ratio = [](int64_t part, int64_t whole) {
      return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
    };
    double f1 = 0;
    double precision = 0;
    double recall = 0;
    int64_t occurring = 0;
    int64_t among_targets = 0;
    for (std::size_t c = 0; c < hits.size(); ++c) {
      f1 += ratio(2 * hits[c], wanted[c] + predicted[c]);
      precision += ratio(hits[c], predicted[c]);
      recall += ratio(hits[c], wanted[c]);
      occurring += wanted[c] + predicted[c] > 0 ? 1 : 0;
      among_targets += wanted[c] > 0 ? 1 : 0;
    }
    if (among_targets == 0) return std::vector<double>(4, std::numeric_limits<double>::quiet_NaN());
    const auto all = static_cast<double>(occurring);
    return {f1 / all, recall / static_cast<double>(among_targets), precision / all, recall / all};
  }

 private:
  ClassCounts counts_;
};

TENON_COMPONENT(Confusion, ConfusionParams, "confusion",
                "Macro F1, balanced accuracy, macro precision and macro recall over the classes")

}  // namespace tenon::metrics
