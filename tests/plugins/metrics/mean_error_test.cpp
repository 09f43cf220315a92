// metric:mean_error against sums in long double, over batches and ranks.
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/metric.hpp>

namespace tenon::test {
namespace {

class MeanErrorTest : public ::testing::Test {
 protected:
  void update(const at::Tensor& prediction, const at::Tensor& target) {
    metric_->update({{"prediction", prediction}, {"target", target}});
  }
  std::vector<double> values() { return metric_->compute(alone_); }

  OneRank alone_;
  Made<Metric> metric_ = make<Metric>("tenon_metrics", "mean_error");
};

TEST_F(MeanErrorTest, IsTheMeanOverAllElements) {
  update(at::tensor({1.0, 2.0, 3.0, 4.0}, at::kDouble).reshape({2, 2}),
         at::tensor({1.0, 4.0, 0.0, 4.0}, at::kDouble).reshape({2, 2}));
  const std::vector<double> found = values();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found[0], 5.0 / 4);
  EXPECT_DOUBLE_EQ(found[1], std::sqrt(13.0 / 4));
}

TEST_F(MeanErrorTest, DoesNotDependOnHowSamplesWereBatched) {
  at::Generator random = at::detail::createCPUGenerator(4);
  const at::Tensor prediction = at::randn({1000, 3}, random, at::TensorOptions(at::kDouble)).mul(1e3);
  const at::Tensor target = at::randn({1000, 3}, random, at::TensorOptions(at::kDouble));
  long double absolute = 0;
  long double squared = 0;
  const auto* const p = prediction.const_data_ptr<double>();
  const auto* const t = target.const_data_ptr<double>();
  for (int64_t i = 0; i < prediction.numel(); ++i) {
    const long double error = static_cast<long double>(p[i]) - t[i];
    absolute += std::abs(error);
    squared += error * error;
  }
  const auto mae = static_cast<double>(absolute / 3000);
  const auto rmse = static_cast<double>(std::sqrt(squared / 3000));
  for (const int64_t batch : {1, 7, 256, 1000}) {
    metric_->reset();
    for (int64_t from = 0; from < 1000; from += batch) {
      const int64_t count = std::min(batch, 1000 - from);
      update(prediction.narrow(0, from, count), target.narrow(0, from, count));
    }
    EXPECT_NEAR(values()[0], mae, 1e-12 * mae) << batch;
    EXPECT_NEAR(values()[1], rmse, 1e-12 * rmse) << batch;
  }
}

TEST_F(MeanErrorTest, SubtractsInFloat64WhateverTheTypes) {
  const at::Tensor prediction = at::tensor({1.0F}, at::kFloat);
  update(prediction.to(at::kBFloat16), prediction.add(1e-3));
  EXPECT_NEAR(values()[0], 1e-3, 1e-7) << "bfloat16 would give 0";
}

TEST_F(MeanErrorTest, OfNothingIsNoNumber) {
  EXPECT_TRUE(std::isnan(values().at(0)));
  EXPECT_TRUE(std::isnan(values().at(1)));
  update(at::zeros({0, 2}), at::zeros({0, 2}));
  EXPECT_TRUE(std::isnan(values().at(0)));
  update(at::ones({1, 2}), at::zeros({1, 2}));
  EXPECT_EQ(values().at(0), 1);
  metric_->reset();
  EXPECT_TRUE(std::isnan(values().at(1)));
}

TEST_F(MeanErrorTest, AnErrorThatIsNoNumberStaysVisible) {
  update(at::full({2}, std::nan("")), at::zeros({2}));
  EXPECT_TRUE(std::isnan(values().at(0)));
}

TEST_F(MeanErrorTest, NamesBothShapesThatDiffer) {
  const Error error = error_of([&] { update(at::zeros({4, 2}), at::zeros({4})); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(error.what()).find("prediction is float32[4, 2], but target is float32[4]"), std::string::npos)
      << error.what();
}

TEST_F(MeanErrorTest, TakesAnAxisOfOneForNone) {
  update(at::tensor({1.0, 2.0}, at::kDouble).reshape({2, 1}), at::tensor({2.0, 4.0}, at::kDouble));
  update(at::tensor({1.0, 2.0}, at::kDouble), at::tensor({2.0, 4.0}, at::kDouble).reshape({2, 1}));
  EXPECT_EQ(values().at(0), 1.5);
}

/// Two ranks of which this one is the first; the second has Σ|e| = 3, Σe² = 5 over 2 elements.
class TwoRanks final : public Collectives {
 public:
  [[nodiscard]] int64_t rank() const noexcept override { return 0; }
  [[nodiscard]] int64_t world() const noexcept override { return 2; }
  void all_reduce(at::Tensor& tensor, Op /*op*/) override { tensor.add_(at::tensor({3.0, 5.0, 2.0}, at::kDouble)); }
  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor, tensor}; }
  void broadcast(at::Tensor& /*tensor*/, int64_t /*root*/) override {}
  void barrier() override {}
};

TEST_F(MeanErrorTest, MergesSumsOfAllRanksAndStaysUsable) {
  TwoRanks ranks;
  EXPECT_EQ(metric_->compute(ranks), (std::vector<double>{1.5, std::sqrt(2.5)})) << "this rank saw nothing";
  update(at::full({2}, 3.0), at::zeros({2}));
  const std::vector<double> both{(6.0 + 3) / 4, std::sqrt((18.0 + 5) / 4)};
  EXPECT_EQ(metric_->compute(ranks), both);
  EXPECT_EQ(metric_->compute(ranks), both);
  EXPECT_EQ(values(), (std::vector<double>{3, 3}));
}

TEST(MeanError, SaysThatLessIsBetter) {
  const std::string manifest = descriptor("tenon_metrics", "mean_error").describe();
  const std::size_t mae = manifest.find("\"mae\"");
  ASSERT_NE(mae, std::string::npos) << manifest;
  EXPECT_GT(manifest.find("\"rmse\""), mae) << "the first output is what a bare name means";
  EXPECT_EQ(manifest.find("\"max\""), std::string::npos) << manifest;
  EXPECT_NE(manifest.find(R"("like":"target","name":"prediction")"), std::string::npos) << manifest;
}

}  // namespace
}  // namespace tenon::test
