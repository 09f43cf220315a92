// metric:accuracy against sorting, over batches and ranks.
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/metric.hpp>

namespace tenon::test {
namespace {

const at::TensorOptions kLongs(at::kLong);

class AccuracyTest : public ::testing::Test {
 protected:
  void use(const std::string& params) { metric_ = make<Metric>("tenon_metrics", "accuracy", params); }
  void update(const at::Tensor& logits, const at::Tensor& target) {
    metric_->update({{"logits", logits}, {"target", target}});
  }
  double value() { return metric_->compute(single_->join()).at(0); }

  Made<Distributed> single_ = make<Distributed>("tenon_distributed", "single");
  Made<Metric> metric_ = make<Metric>("tenon_metrics", "accuracy");
};

TEST_F(AccuracyTest, CountsTargetsAmongTheKHighest) {
  at::Generator random = at::detail::createCPUGenerator(4);
  const at::Tensor logits = at::randn({200, 6}, random, at::TensorOptions(at::kFloat));
  const at::Tensor target = at::randint(0, 6, {200}, random, kLongs);
  const at::Tensor order = logits.argsort(1, /*descending=*/true);
  for (int64_t k = 1; k <= 6; ++k) {
    use(R"({"top_k": )" + std::to_string(k) + "}");
    update(logits, target);
    const at::Tensor hits = order.narrow(1, 0, k).eq(target.unsqueeze(1)).any(1);
    EXPECT_DOUBLE_EQ(value(), static_cast<double>(hits.sum().item<int64_t>()) / 200) << k;
  }
}

TEST_F(AccuracyTest, DoesNotDependOnHowSamplesWereBatched) {
  at::Generator random = at::detail::createCPUGenerator(4);
  const at::Tensor logits = at::randn({50, 3, 4}, random, at::TensorOptions(at::kFloat));
  const at::Tensor target = at::randint(0, 3, {50, 4}, random, kLongs);
  update(logits, target);
  const double together = value();
  metric_->reset();
  for (const auto& [from, count] : {std::pair<int64_t, int64_t>{0, 1}, {1, 30}, {31, 0}, {31, 19}}) {
    update(logits.narrow(0, from, count), target.narrow(0, from, count));
  }
  EXPECT_EQ(value(), together);
}

TEST_F(AccuracyTest, SkipsTheIgnoredTarget) {
  use(R"({"ignore_index": 2})");
  update(at::eye(3), at::tensor({0, 1, 2}, kLongs));
  EXPECT_EQ(value(), 1);
  update(at::eye(3), at::tensor({1, 2, 2}, kLongs));
  EXPECT_DOUBLE_EQ(value(), 2.0 / 3);
}

TEST_F(AccuracyTest, OneLogitMeansTheSecondClassAboveZero) {
  const at::Tensor logits = at::tensor({-2.0F, -0.1F, 0.0F, 0.1F, 3.0F, std::nanf("")}, at::kFloat);
  const at::Tensor target = at::tensor({0, 1, 0, 1, 0, 1}, kLongs);  // found: the first, the third and the fourth
  for (const auto& [x, y] : {std::pair{logits, target},
                             {logits.unsqueeze(1), target},
                             {logits.unsqueeze(1), target.unsqueeze(1)},
                             {logits, target.unsqueeze(1)}}) {
    metric_->reset();
    update(x, y);
    EXPECT_DOUBLE_EQ(value(), 3.0 / 6) << x.sizes() << y.sizes();
  }
  metric_->reset();
  update(logits.view({2, 3}), target.view({2, 3}));
  EXPECT_DOUBLE_EQ(value(), 3.0 / 6) << "several labels a sample, each a yes or no";
  metric_->reset();
  update(at::zeros({2, 1}), at::tensor({0, 2}, kLongs));
  EXPECT_NE(std::string(error_of([&] { (void)value(); }).what()).find("target 2 is no class: there are 2"),
            std::string::npos);
}

TEST_F(AccuracyTest, TakesClassesOfAnyIntegerTypeAndBool) {
  for (const at::ScalarType type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
    metric_->reset();
    update(at::eye(2), at::tensor({0, 0}, kLongs).to(type));
    EXPECT_EQ(value(), 0.5) << type;
  }
}

TEST_F(AccuracyTest, NamesBothShapesThatDoNotFit) {
  for (const auto& each :
       std::vector<std::pair<at::Tensor, at::Tensor>>{{at::zeros({4, 3}), at::zeros({4, 1}, kLongs)},
                                                      {at::zeros({4, 3}), at::zeros({3}, kLongs)},
                                                      {at::zeros({4}), at::zeros({3}, kLongs)},
                                                      {at::zeros({4}), at::zeros({4, 2}, kLongs)},
                                                      {at::zeros({4, 1, 2}), at::zeros({4}, kLongs)}}) {
    const Error error = error_of([&] { update(each.first, each.second); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_NE(std::string(error.what()).find("logits are float32[4"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("target is int64["), std::string::npos) << error.what();
  }
}

TEST_F(AccuracyTest, EqualLogitsCountForTheFirstClassAlone) {
  update(at::zeros({4, 4}), at::arange(4, kLongs));
  EXPECT_EQ(value(), 0.25);
}

TEST_F(AccuracyTest, ALogitThatIsNoNumberFindsNothing) {
  at::Tensor logits = at::zeros({3, 3});
  logits.fill_(std::nan(""));
  update(logits, at::arange(3, kLongs));
  EXPECT_EQ(value(), 0);
  metric_->reset();
  logits = at::eye(3);
  logits[0][2] = std::nan("");
  update(logits, at::arange(3, kLongs));
  EXPECT_DOUBLE_EQ(value(), 2.0 / 3);
}

TEST_F(AccuracyTest, OfNothingIsNoNumber) {
  EXPECT_TRUE(std::isnan(value()));
  update(at::eye(3), at::full({3}, -100, kLongs));
  EXPECT_TRUE(std::isnan(value()));
}

TEST_F(AccuracyTest, NamesATargetThatIsNoClass) {
  update(at::eye(3), at::tensor({0, 1, 3}, kLongs));
  const Error high = error_of([&] { (void)value(); });
  EXPECT_EQ(high.code(), ErrorCode::kData);
  EXPECT_NE(std::string(high.what()).find("target 3 is no class: there are 3 (0 to 2)"), std::string::npos)
      << high.what();
  metric_->reset();
  update(at::eye(3), at::tensor({0, -7, 2}, kLongs));
  EXPECT_NE(std::string(error_of([&] { (void)value(); }).what()).find("target -7"), std::string::npos);
}

/// Two ranks of which this one is the first; the second found 1 of 4.
class TwoRanks final : public Collectives {
 public:
  [[nodiscard]] int64_t rank() const noexcept override { return 0; }
  [[nodiscard]] int64_t world() const noexcept override { return 2; }
  void all_reduce(at::Tensor& tensor, Op op) override {
    if (op == Op::kSum) tensor.add_(at::tensor({1, 4}, kLongs));
    if (op == Op::kMax) tensor.copy_(at::maximum(tensor, at::tensor({0, 1}, kLongs)));
  }
  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor, tensor}; }
  void broadcast(at::Tensor& /*tensor*/, int64_t /*root*/) override {}
  void barrier() override {}
};

TEST_F(AccuracyTest, AddsUpAllRanksAndStaysUsable) {
  TwoRanks ranks;
  update(at::eye(2), at::tensor({0, 1}, kLongs));
  EXPECT_DOUBLE_EQ(metric_->compute(ranks).at(0), 3.0 / 6);
  EXPECT_DOUBLE_EQ(metric_->compute(ranks).at(0), 3.0 / 6);
  EXPECT_DOUBLE_EQ(value(), 1);
}

TEST_F(AccuracyTest, RefusesATopKOverTheNumberOfClasses) {
  use(R"({"top_k": 5})");
  const Error error = error_of([&] { update(at::eye(3), at::arange(3, kLongs)); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.pointer(), "/top_k");
  EXPECT_EQ(error_of([&] { use(R"({"top_k": 0})"); }).pointer(), "/top_k");
}

}  // namespace
}  // namespace tenon::test
