// metric:confusion: precision, recall and F1 of each class, averaged over the classes.
#include <limits>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <support/across_ranks.hpp>
#include <support/class_targets.hpp>
#include <support/shapes.hpp>
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
  explicit Confusion(const ConfusionParams& params) : targets_(params.ignore_index) {}

  static Ports ports() { return {{logits_port(), target_port()}, {}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<MetricOutput> outputs() {
    return {{"macro_f1", Direction::kMax},
            {"balanced_accuracy", Direction::kMax},
            {"macro_precision", Direction::kMax},
            {"macro_recall", Direction::kMax}};
  }

  void reset() override {
    counts_ = at::Tensor();
    targets_.reset();
  }

  void update(const Tensors& in) override {
    const auto [logits, target] = class_logits(in.at("logits"), in.at("target"));
    if (target.numel() == 0) return;
    const int64_t classes = logits.size(1);
    const at::Tensor counted = targets_.add(target, classes);
    const at::Tensor number = at::arange(classes, target.options()).view({classes, 1});
    const auto of_class = [&](const at::Tensor& indices, const at::Tensor& counts) {
      return indices.reshape({1, -1}).eq(number).logical_and(counts.reshape({1, -1}));
    };
    const at::Tensor wanted = of_class(target, counted);
    const at::Tensor predicted = of_class(logits.argmax(1), counted.logical_and(logits.isnan().any(1).logical_not()));
    const at::Tensor counts = at::stack({wanted.logical_and(predicted).sum(1), wanted.sum(1), predicted.sum(1)});
    if (counts_.defined() && counts_.size(1) != classes) {
      throw Error(ErrorCode::kConfig, "logits have " + std::to_string(classes) + " classes, but an earlier batch had " +
                                          std::to_string(counts_.size(1)));
    }
    counts_ = counts_.defined() ? counts_ + counts : counts;
  }

  [[nodiscard]] std::vector<double> compute(Collectives& ranks) override {
    const int64_t classes = largest(ranks, counts_.defined() ? counts_.size(1) : 0, counts_);
    targets_.require_classes(ranks);
    at::Tensor counts = counts_.defined() ? counts_.clone() : at::zeros({3, classes}, at::kLong);
    ranks.all_reduce(counts, Collectives::Op::kSum);
    const at::Tensor host = counts.cpu();
    const auto* const hits = host.const_data_ptr<int64_t>();
    const auto* const wanted = hits + classes;
    const auto* const predicted = wanted + classes;

    const auto ratio = [](int64_t part, int64_t whole) {
      return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
    };
    double f1 = 0;
    double precision = 0;
    double recall = 0;
    int64_t occurring = 0;
    int64_t among_targets = 0;
    for (int64_t c = 0; c < classes; ++c) {
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
  at::Tensor counts_;  // both at once, targets, predictions: each for every class
  ClassTargets targets_;
};

TENON_COMPONENT(Confusion, ConfusionParams, "confusion",
                "Macro F1, balanced accuracy, macro precision and macro recall over the classes")

}  // namespace tenon::metrics
