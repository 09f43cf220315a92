// metric:my_metric: the share of predictions that lie close enough to their targets.
#include <limits>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/metric.hpp>
#include <tenon/registration.hpp>

namespace {

// Declared once: reading, defaults, bounds, messages and the page of `tenon plugins show` follow from it.
struct MyMetricParams {
  double tolerance = 0.5;

  TENON_PARAMS(MyMetricParams, tenon::field(&MyMetricParams::tolerance, "tolerance",
                                            "Largest error that is close enough, in the target's unit")
                                   .min(0))
};

/// Over all elements of all samples: the share with |prediction − target| <= tolerance.
class MyMetric final : public tenon::Metric {
 public:
  explicit MyMetric(const MyMetricParams& params) : params_(params) {}

  // Pipelines are checked against these rules before any code of the plugin runs. "N" is the batch, "*" any axes. Where
  // the target was rescaled, both come in its own unit.
  static tenon::Ports ports() {
    const std::vector<tenon::Dtype> floats{tenon::Dtype::kFloat32, tenon::Dtype::kFloat64, tenon::Dtype::kFloat16,
                                           tenon::Dtype::kBfloat16};
    return {.in = {tenon::Port::of("prediction", floats, {"N", "*"}).in_units_of("target"),
                   tenon::Port::of("target", floats, {"N", "*"})},
            .out = {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  // The direction decides which checkpoint is the best and when training stops early.
  static std::vector<tenon::MetricOutput> outputs() { return {{"share", tenon::Direction::kMax}}; }

  void reset() override { totals_ = at::Tensor(); }

  // Sums and counts alone, on the device: no value is read here, and none depends on how samples are batched.
  void update(const tenon::Tensors& in) override {
    if (in.at("prediction").sizes() != in.at("target").sizes()) {
      throw tenon::Error(tenon::ErrorCode::kConfig,
                         "prediction and target differ in shape: wire outputs and targets of "
                         "one shape");
    }
    const at::Tensor error = in.at("prediction").to(at::kDouble).sub(in.at("target").to(at::kDouble)).abs();
    const at::Tensor close = error.le(params_.tolerance).sum(at::kDouble);
    const at::Tensor totals = at::stack({close, at::full({}, error.numel(), close.options())});
    totals_ = totals_.defined() ? totals_ + totals : totals;
  }

  // Every rank takes part, also one that saw no sample.
  [[nodiscard]] std::vector<double> compute(tenon::Collectives& ranks) override {
    at::Tensor totals = totals_.defined() ? totals_.clone() : at::zeros({2}, at::kDouble);
    ranks.all_reduce(totals, tenon::Collectives::Op::kSum);
    const at::Tensor host = totals.cpu();
    const auto* const value = host.const_data_ptr<double>();
    return {value[1] == 0 ? std::numeric_limits<double>::quiet_NaN() : value[0] / value[1]};
  }

 private:
  MyMetricParams params_;
  at::Tensor totals_;  // close, all
};

}  // namespace

TENON_COMPONENT(MyMetric, MyMetricParams, "my_metric", "Share of predictions that lie close enough to their targets")
