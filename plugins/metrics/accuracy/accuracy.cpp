// metric:accuracy: the share of targets among the k highest logits.
#include <limits>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <support/class_targets.hpp>
#include <support/shapes.hpp>
#include <tenon/components/metric.hpp>
#include <tenon/registration.hpp>

namespace tenon::metrics {

struct AccuracyParams {
  int64_t top_k = 1;
  int64_t ignore_index = -100;

  TENON_PARAMS(AccuracyParams,
               field(&AccuracyParams::top_k, "top_k", "A target counts as found among this many highest logits").min(1),
               field(&AccuracyParams::ignore_index, "ignore_index", "Target that does not count"))
};

/// For logits [N, C, …] and targets [N, …]: found / counted. The rank of a target is the number of classes that come
/// before it: those with a higher logit, and among equal ones those of a lower index, so that a model that gives the same
/// logit to all classes scores as if it always said class 0. A logit that is NaN comes before every number, and a target
/// whose own logit is NaN is never found. One logit x for each target ([N] or [N, 1]) means class 1 where x > 0, and else
/// class 0, as if the logits of the two were 0 and x.
class Accuracy final : public Metric {
 public:
  explicit Accuracy(const AccuracyParams& params) : params_(params), targets_(params.ignore_index, "ignore_index") {}

  static Ports ports() { return {{logits_port(), target_port()}, {}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<MetricOutput> outputs() { return {{"accuracy", Direction::kMax}}; }

  void reset() override {
    totals_ = at::Tensor();
    targets_.reset();
  }

  void update(const Tensors& in) override {
    const auto [logits, target] = class_logits(in.at("logits"), in.at("target"));
    if (target.numel() == 0) return;
    const int64_t classes = logits.size(1);
    if (params_.top_k > classes) {
      throw Error(ErrorCode::kConfig,
                  "top_k is " + std::to_string(params_.top_k) + ", but logits have only " + std::to_string(classes) +
                      " classes",
                  "/top_k");
    }
    const at::Tensor counts = targets_.add(target, classes);
    const at::Tensor found = is_found(logits, target).logical_and(counts);
    const at::Tensor totals = at::stack({found.sum(), counts.sum()});
    totals_ = totals_.defined() ? totals_ + totals : totals;
  }

  [[nodiscard]] std::vector<double> compute(Collectives& ranks) override {
    at::Tensor totals = totals_.defined() ? totals_.clone() : at::zeros({2}, at::kLong);
    ranks.all_reduce(totals, Collectives::Op::kSum);
    targets_.require_classes(ranks);
    const at::Tensor values = totals.cpu();
    const auto* const value = values.const_data_ptr<int64_t>();
    if (value[1] == 0) return {std::numeric_limits<double>::quiet_NaN()};
    return {static_cast<double>(value[0]) / static_cast<double>(value[1])};
  }

 private:
  /// For each target, whether fewer than top_k classes come before it.
  [[nodiscard]] at::Tensor is_found(const at::Tensor& logits, const at::Tensor& target) const {
    const int64_t classes = logits.size(1);
    const at::Tensor index = target.clamp(0, classes - 1).unsqueeze(1);
    const at::Tensor own = logits.gather(1, index);
    std::vector<int64_t> along(static_cast<std::size_t>(logits.dim()), 1);
    along[1] = classes;
    const at::Tensor number = at::arange(classes, target.options()).view(along);
    const at::Tensor higher = logits.le(own).logical_not();
    const at::Tensor earlier = logits.eq(own).logical_and(number.lt(index));
    return higher.logical_or(earlier).sum(1).lt(params_.top_k);
  }

  AccuracyParams params_;
  at::Tensor totals_;  // found, counted
  ClassTargets targets_;
};

TENON_COMPONENT(Accuracy, AccuracyParams, "accuracy", "Share of targets among the k highest logits")

}  // namespace tenon::metrics
