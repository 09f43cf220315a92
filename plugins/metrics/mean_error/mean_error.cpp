// metric:mean_error: the mean absolute error and the root of the mean squared error.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <support/shapes.hpp>
#include <tenon/components/metric.hpp>
#include <tenon/registration.hpp>

namespace tenon::metrics {

/// Over all n elements of all samples, with e = prediction − target: mae = Σ|e| / n, rmse = √(Σe² / n), in the target's
/// unit. Differences and sums are made in float64 whatever the types are.
class MeanError final : public Metric {
 public:
  explicit MeanError(const NoParams& /*params*/) {}

  static Ports ports() {
    const std::vector<Dtype> floats{Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16};
    return {{Port::of("prediction", floats, {"N", "*"}).in_units_of("target"), Port::of("target", floats, {"N", "*"})},
            {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<MetricOutput> outputs() { return {{"mae", Direction::kMin}, {"rmse", Direction::kMin}}; }

  void reset() override { totals_ = at::Tensor(); }

  void update(const Tensors& in) override {
    const at::Tensor& prediction = in.at("prediction");
    const at::Tensor target = in_shape_of(prediction, in.at("target"));
    const at::Tensor error = prediction.to(at::kDouble).sub(target.to(at::kDouble));
    const at::Tensor count = at::full({}, error.numel(), error.options());
    const at::Tensor totals = at::stack({error.abs().sum(), error.square().sum(), count});
    totals_ = totals_.defined() ? totals_ + totals : totals;
  }

  [[nodiscard]] std::vector<double> compute(Collectives& ranks) override {
    at::Tensor totals = totals_.defined() ? totals_.clone() : at::zeros({3}, at::kDouble);
    ranks.all_reduce(totals, Collectives::Op::kSum);
    const at::Tensor host = totals.cpu();
    const auto* const value = host.const_data_ptr<double>();
    if (value[2] == 0) return std::vector<double>(2, std::numeric_limits<double>::quiet_NaN());
    return {value[0] / value[2], std::sqrt(value[1] / value[2])};
  }

 private:
  at::Tensor totals_;  // Σ|e|, Σe², n
};

TENON_COMPONENT(MeanError, NoParams, "mean_error",
                "Mean absolute error and root of the mean squared error over all elements")

}  // namespace tenon::metrics
