// metric:confusion against counting by pairs, over batches and ranks.
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/metric.hpp>

namespace tenon::test {
namespace {

const at::TensorOptions kLongs(at::kLong);

/// Logits of which `predictions` are the highest.
at::Tensor logits_of(const std::vector<int64_t>& predictions, int64_t classes) {
  at::Tensor logits = at::zeros({static_cast<int64_t>(predictions.size()), classes});
  for (std::size_t i = 0; i < predictions.size(); ++i) logits[static_cast<int64_t>(i)][predictions[i]] = 2;
  return logits;
}

struct Averages {
  double f1 = 0;
  double balanced = 0;
  double precision = 0;
  double recall = 0;
};

/// Class by class from all pairs.
Averages plain(const std::vector<int64_t>& predictions, const std::vector<int64_t>& targets, int64_t classes) {
  Averages sums;
  double occurring = 0;
  double among_targets = 0;
  for (int64_t c = 0; c < classes; ++c) {
    double right = 0;
    double missed = 0;
    double wrong = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      right += predictions[i] == c && targets[i] == c ? 1 : 0;
      missed += predictions[i] != c && targets[i] == c ? 1 : 0;
      wrong += predictions[i] == c && targets[i] != c ? 1 : 0;
    }
    if (right + missed + wrong == 0) continue;
    const double precision = right + wrong == 0 ? 0 : right / (right + wrong);
    const double recall = right + missed == 0 ? 0 : right / (right + missed);
    occurring += 1;
    sums.precision += precision;
    sums.recall += recall;
    sums.f1 += precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall);
    if (right + missed == 0) continue;
    among_targets += 1;
    sums.balanced += recall;
  }
  return {sums.f1 / occurring, sums.balanced / among_targets, sums.precision / occurring, sums.recall / occurring};
}

class ConfusionTest : public ::testing::Test {
 protected:
  void update(const at::Tensor& logits, const at::Tensor& target) {
    metric_->update({{"logits", logits}, {"target", target}});
  }
  std::vector<double> values() { return metric_->compute(alone_); }
  void expect(const Averages& expected) {
    const std::vector<double> found = values();
    ASSERT_EQ(found.size(), 4U);
    EXPECT_NEAR(found[0], expected.f1, 1e-14);
    EXPECT_NEAR(found[1], expected.balanced, 1e-14);
    EXPECT_NEAR(found[2], expected.precision, 1e-14);
    EXPECT_NEAR(found[3], expected.recall, 1e-14);
  }

  OneRank alone_;
  Made<Metric> metric_ = make<Metric>("tenon_metrics", "confusion");
};

TEST_F(ConfusionTest, AveragesOverTheClassesHoweverSamplesAreBatched) {
  at::Generator random = at::detail::createCPUGenerator(4);
  const at::Tensor drawn = at::randint(0, 5, {2, 300}, random, kLongs);
  const auto* const data = drawn.const_data_ptr<int64_t>();
  const std::vector<int64_t> predictions(data, data + 300);
  const std::vector<int64_t> targets(data + 300, data + 600);
  const at::Tensor logits = logits_of(predictions, 5);
  const at::Tensor target = at::tensor(targets, kLongs);
  for (const int64_t batch : {1, 7, 300}) {
    metric_->reset();
    for (int64_t from = 0; from < 300; from += batch) {
      const int64_t count = std::min(batch, 300 - from);
      update(logits.narrow(0, from, count), target.narrow(0, from, count));
    }
    expect(plain(predictions, targets, 5));
  }
}

TEST_F(ConfusionTest, LeavesOutClassesThatNeverOccurAndCountsZeroDivisionsAsZero) {
  const std::vector<int64_t> predictions{0, 0, 1, 4, 0, 1};
  const std::vector<int64_t> targets{0, 0, 1, 1, 2, 2};  // 2 is never predicted, 4 never a target, 3 neither
  update(logits_of(predictions, 5), at::tensor(targets, kLongs));
  expect(plain(predictions, targets, 5));
  const std::vector<double> found = values();
  EXPECT_NEAR(found[0], (0.8 + 0.5 + 0 + 0) / 4, 1e-14);
  EXPECT_NEAR(found[1], (1 + 0.5 + 0) / 3, 1e-14) << "over the classes that are targets";
  EXPECT_NEAR(found[2], (2.0 / 3 + 0.5 + 0 + 0) / 4, 1e-14);
  EXPECT_NEAR(found[3], (1 + 0.5 + 0 + 0) / 4, 1e-14);
}

TEST_F(ConfusionTest, OneLogitMeansTheSecondClassAboveZero) {
  const at::Tensor logits = at::tensor({-2.0F, 0.5F, 0.0F, 3.0F, -1.0F}, at::kFloat);
  const at::Tensor target = at::tensor({0, 1, 1, 0, 1}, kLongs);
  const Averages expected = plain({0, 1, 0, 1, 0}, {0, 1, 1, 0, 1}, 2);
  for (const auto& [x, y] : {std::pair{logits, target}, {logits.unsqueeze(1), target}, {logits, target.unsqueeze(1)}}) {
    metric_->reset();
    update(x, y.to(at::kBool));
    expect(expected);
  }
}

TEST_F(ConfusionTest, SkipsTheIgnoredTarget) {
  update(logits_of({0, 1, 0, 1}, 2), at::tensor({0, 1, -100, -100}, kLongs));
  expect({1, 1, 1, 1});
}

TEST_F(ConfusionTest, ALogitThatIsNoNumberPredictsNothing) {
  at::Tensor logits = logits_of({0, 0, 1}, 2);
  logits[1][0] = std::nan("");
  update(logits, at::tensor({0, 0, 1}, kLongs));
  const std::vector<double> found = values();
  EXPECT_NEAR(found[0], (2.0 / 3 + 1) / 2, 1e-14);
  EXPECT_NEAR(found[2], 1, 1e-14);
  EXPECT_NEAR(found[3], (0.5 + 1) / 2, 1e-14);
}

TEST_F(ConfusionTest, EqualLogitsCountForTheFirstClassAlone) {
  update(at::zeros({4, 4}), at::arange(4, kLongs));
  expect(plain({0, 0, 0, 0}, {0, 1, 2, 3}, 4));
}

TEST_F(ConfusionTest, OfNothingIsNoNumber) {
  for (const double value : values()) EXPECT_TRUE(std::isnan(value));
  update(at::eye(3), at::full({3}, -100, kLongs));
  for (const double value : values()) EXPECT_TRUE(std::isnan(value));
}

TEST_F(ConfusionTest, NamesATargetThatIsNoClassAndShapesThatDoNotFit) {
  update(at::eye(3), at::tensor({0, 1, 3}, kLongs));
  const Error high = error_of([&] { (void)values(); });
  EXPECT_EQ(high.code(), ErrorCode::kData);
  EXPECT_NE(std::string(high.what()).find("target 3 is no class: there are 3 (0 to 2)"), std::string::npos)
      << high.what();
  const Error width = error_of([&] { update(at::eye(2), at::tensor({0, 1}, kLongs)); });
  EXPECT_EQ(width.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(width.what()).find("logits have 2 classes, but an earlier batch had 3"), std::string::npos)
      << width.what();
  const Error shapes = error_of([&] { update(at::zeros({4, 3}), at::zeros({3}, kLongs)); });
  EXPECT_NE(std::string(shapes.what()).find("logits are float32[4, 3], but target is int64[3]"), std::string::npos)
      << shapes.what();
}

/// Two ranks of which this one is the first; the second saw targets 0, 1 and predicted 0 for both.
class TwoRanks final : public Collectives {
 public:
  [[nodiscard]] int64_t rank() const noexcept override { return 0; }
  [[nodiscard]] int64_t world() const noexcept override { return 2; }
  void all_reduce(at::Tensor& tensor, Op op) override {
    if (op == Op::kSum) {
      tensor.add_(at::tensor({1, 0, 1, 1, 2, 0}, kLongs).view({3, 2}));
    } else {
      tensor.copy_(at::maximum(tensor, tensor.dim() == 0 ? at::scalar_tensor(2, kLongs) : at::tensor({0, 1}, kLongs)));
    }
  }
  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor, tensor}; }
  void broadcast(at::Tensor& /*tensor*/, int64_t /*root*/) override {}
  void barrier() override {}
};

TEST_F(ConfusionTest, AddsUpAllRanksAndStaysUsable) {
  TwoRanks ranks;
  const double balanced_there = metric_->compute(ranks).at(1);
  EXPECT_NEAR(balanced_there, 0.5, 1e-14) << "this rank saw nothing";
  update(logits_of({1, 1}, 2), at::tensor({1, 1}, kLongs));
  const Averages both = plain({0, 0, 1, 1}, {0, 1, 1, 1}, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(metric_->compute(ranks).at(0), both.f1, 1e-14);
    EXPECT_NEAR(metric_->compute(ranks).at(1), both.balanced, 1e-14);
  }
  expect(plain({1, 1}, {1, 1}, 2));
}

TEST(Confusion, GivesMacroF1First) {
  const std::string manifest = descriptor("tenon_metrics", "confusion").describe();
  const std::size_t first = manifest.find("\"macro_f1\"");
  for (const char* other : {"\"balanced_accuracy\"", "\"macro_precision\"", "\"macro_recall\""}) {
    EXPECT_GT(manifest.find(other), first) << manifest;
    EXPECT_NE(manifest.find(other), std::string::npos) << manifest;
  }
}

}  // namespace
}  // namespace tenon::test
