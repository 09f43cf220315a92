// MyMetric: a known share, whatever the batches and ranks, and NaN for nothing at all.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <tenon/components/metric.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/ranks.hpp>

namespace {

using tenon::Tensors;
using tenon::harness::make;
using tenon::harness::refused;
using tenon::harness::values_of;
using tenon::harness::values_over_ranks;

Tensors errors_of(std::vector<double> errors) {
  const at::Tensor prediction = at::tensor(errors).unsqueeze(1);
  return {{"prediction", prediction}, {"target", at::zeros_like(prediction)}};
}

TEST(MyMetric, CountsErrorsUpToTheTolerance) {
  const auto metric = make<tenon::Metric>("my_metric", R"({"tolerance": 2})");
  EXPECT_EQ(values_of(*metric, {errors_of({0, -2, 2.5, 1})}), std::vector<double>{0.75});
}

TEST(MyMetric, GivesTheSameForAnyBatchesAndRanks) {
  const auto make_one = [] { return make<tenon::Metric>("my_metric"); };
  const std::vector<Tensors> batches{errors_of({0.1, 9}), errors_of({9, 9, 9}), errors_of({0.2})};
  EXPECT_DOUBLE_EQ(values_of(*make_one(), batches)[0], 2.0 / 6);
  EXPECT_DOUBLE_EQ(values_of(*make_one(), {errors_of({0.1, 9, 9, 9, 9, 0.2})})[0], 2.0 / 6);
  EXPECT_DOUBLE_EQ(values_over_ranks(4, make_one, batches)[0], 2.0 / 6);
}

TEST(MyMetric, ForgetsWhatItSawAndIsNanWithoutSamples) {
  const auto metric = make<tenon::Metric>("my_metric");
  EXPECT_EQ(values_of(*metric, {errors_of({0})}), std::vector<double>{1});
  EXPECT_EQ(values_of(*metric, {errors_of({9})}), std::vector<double>{0});
  EXPECT_TRUE(std::isnan(values_of(*metric, {})[0]));
}

TEST(MyMetric, RefusesOtherShapes) {
  const auto metric = make<tenon::Metric>("my_metric");
  const Tensors unlike{{"prediction", at::zeros({2, 1})}, {"target", at::zeros({2, 3})}};
  EXPECT_TRUE(refused([&] { metric->update(unlike); }, tenon::ErrorCode::kConfig, "", "differ in shape"));
}

}  // namespace
