// metric:r2: the coefficient of determination.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <support/across_ranks.hpp>
#include <support/shapes.hpp>
#include <tenon/components/metric.hpp>
#include <tenon/registration.hpp>

namespace tenon::metrics {

/// For each element k of a sample, over all samples: R²ₖ = 1 − Σ(t − p)² / Σ(t − mean t)²; the value is the mean over k.
/// 1 is perfect, 0 as good as the mean of the targets. Not a number where a target is constant, one sample included, since
/// nothing is there to explain. In float64; moments of batches and ranks are merged, so that a large mean takes no digits
/// (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979).
class R2 final : public Metric {
 public:
  explicit R2(const NoParams& /*params*/) {}

  static Ports ports() {
    const std::vector<Dtype> floats{Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16};
    return {{Port::of("prediction", floats, {"N", "*"}).in_units_of("target"), Port::of("target", floats, {"N", "*"})},
            {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<MetricOutput> outputs() { return {{"r2", Direction::kMax}}; }

  void reset() override {
    count_ = 0;
    for (at::Tensor* const each : {&mean_, &squares_, &residual_, &range_}) *each = at::Tensor();
  }

  void update(const Tensors& in) override {
    const at::Tensor& prediction = in.at("prediction");
    const at::Tensor target = in_shape_of(prediction, in.at("target"));
    if (target.numel() == 0) return;
    const int64_t samples = target.size(0);
    const at::Tensor rows = target.to(at::kDouble).reshape({samples, -1});
    const at::Tensor errors = rows - prediction.to(at::kDouble).reshape({samples, -1});
    if (mean_.defined() && mean_.size(0) != rows.size(1)) {
      throw Error(ErrorCode::kConfig, "target is " + spelled(target) + ", but an earlier batch had " +
                                          std::to_string(mean_.size(0)) + " element(s) a sample");
    }
    const at::Tensor mean = rows.mean(0);
    const at::Tensor range = at::stack({rows.amin(0).neg(), rows.amax(0)});
    merge(static_cast<double>(samples), mean, (rows - mean).square().sum(0));
    residual_ = residual_.defined() ? residual_ + errors.square().sum(0) : errors.square().sum(0);
    range_ = range_.defined() ? at::maximum(range_, range) : range;
  }

  [[nodiscard]] std::vector<double> compute(Collectives& ranks) override {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const int64_t width = largest(ranks, mean_.defined() ? mean_.size(0) : 0, mean_);
    if (width == 0) return {none};
    const bool seen = mean_.defined();
    const at::Tensor nothing = at::zeros({width}, seen ? mean_.options() : at::TensorOptions(at::kDouble));
    const at::Tensor count = at::full({1}, count_, nothing.options());
    const at::Tensor own_mean = seen ? mean_ : nothing;

    at::Tensor sums = at::cat({count, own_mean * count, seen ? residual_ : nothing});
    ranks.all_reduce(sums, Collectives::Op::kSum);
    const at::Tensor mean = sums.narrow(0, 1, width) / sums[0];
    at::Tensor squares = (seen ? squares_ : nothing) + count * (own_mean - mean).square();
    ranks.all_reduce(squares, Collectives::Op::kSum);
    at::Tensor range = seen ? range_.clone() : at::full({2, width}, -std::numeric_limits<double>::infinity());
    range = range.to(nothing.options());
    ranks.all_reduce(range, Collectives::Op::kMax);

    // By its range, since a mean that is rounded would leave a constant target some spread.
    const at::Tensor constant = range[0].neg().eq(range[1]);
    const at::Tensor share = sums.narrow(0, 1 + width, width) / squares;
    return {(1 - share).masked_fill(constant, none).mean().item<double>()};
  }

 private:
  /// `samples` more, with their mean and Σ(t − mean)² for each element.
  void merge(double samples, const at::Tensor& mean, const at::Tensor& squares) {
    if (!mean_.defined()) {
      count_ = samples;
      mean_ = mean;
      squares_ = squares;
      return;
    }
    const double total = count_ + samples;
    const at::Tensor apart = mean - mean_;
    mean_ = mean_ + apart * (samples / total);
    squares_ = squares_ + squares + apart.square() * (count_ * samples / total);
    count_ = total;
  }

  double count_ = 0;
  at::Tensor mean_;      // of the target, for each element of a sample, as all that follow
  at::Tensor squares_;   // Σ(t − mean t)²
  at::Tensor residual_;  // Σ(t − p)²
  at::Tensor range_;     // minus the lowest target, the highest one
};

TENON_COMPONENT(R2, NoParams, "r2",
                "Coefficient of determination, the mean over all outputs; no number where a target is constant")

}  // namespace tenon::metrics
