// metric:r2 against sums in long double, over batches and ranks.
#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/metric.hpp>

namespace tenon::test {
namespace {

double r2_of(const at::Tensor& prediction, const at::Tensor& target) {
  const int64_t outputs = target.numel() / target.size(0);
  const auto* const p = prediction.const_data_ptr<double>();
  const auto* const t = target.const_data_ptr<double>();
  long double total = 0;
  for (int64_t k = 0; k < outputs; ++k) {
    long double mean = 0;
    for (int64_t i = k; i < target.numel(); i += outputs) mean += t[i];
    mean /= static_cast<long double>(target.size(0));
    long double residual = 0;
    long double spread = 0;
    for (int64_t i = k; i < target.numel(); i += outputs) {
      residual += (static_cast<long double>(t[i]) - p[i]) * (static_cast<long double>(t[i]) - p[i]);
      spread += (t[i] - mean) * (t[i] - mean);
    }
    total += 1 - residual / spread;
  }
  return static_cast<double>(total / static_cast<long double>(outputs));
}

class R2Test : public ::testing::Test {
 protected:
  static Made<Metric> made() { return make<Metric>("tenon_metrics", "r2"); }
  static void update(Metric& metric, const at::Tensor& prediction, const at::Tensor& target) {
    metric.update({{"prediction", prediction}, {"target", target}});
  }
  void update(const at::Tensor& prediction, const at::Tensor& target) { update(*metric_, prediction, target); }
  double value() { return metric_->compute(alone_).at(0); }

  at::Tensor drawn(const std::vector<int64_t>& shape) {
    return at::randn(shape, random_, at::TensorOptions(at::kDouble));
  }

  at::Generator random_ = at::detail::createCPUGenerator(4);
  OneRank alone_;
  Made<Metric> metric_ = made();
};

TEST_F(R2Test, IsTheMeanOverOutputs) {
  const at::Tensor target = drawn({200, 3}) * at::tensor({1.0, 100.0, 1e-3}, at::TensorOptions(at::kDouble)) + 5;
  const at::Tensor prediction =
      target + drawn({200, 3}) * at::tensor({0.1, 50.0, 2e-3}, at::TensorOptions(at::kDouble));
  update(prediction, target);
  EXPECT_NEAR(value(), r2_of(prediction, target), 1e-10);
  EXPECT_LT(value(), 0) << "worse than the mean, through the last output";
}

TEST_F(R2Test, IsOneForPerfectAndZeroForTheMean) {
  const at::Tensor target = at::tensor({1.0, 2.0, 6.0}, at::TensorOptions(at::kDouble));
  update(target, target);
  EXPECT_EQ(value(), 1);
  metric_->reset();
  update(at::full({3}, 3.0), target);
  EXPECT_NEAR(value(), 0, 1e-15);
}

TEST_F(R2Test, DoesNotDependOnHowSamplesWereBatchedWhateverTheMean) {
  const at::Tensor target = drawn({500, 2}) + 1e8;
  const at::Tensor prediction = target + drawn({500, 2}) * 0.5;
  const double expected = r2_of(prediction, target);
  for (const int64_t batch : {1, 7, 256, 500}) {
    metric_->reset();
    for (int64_t from = 0; from < 500; from += batch) {
      const int64_t count = std::min(batch, 500 - from);
      update(prediction.narrow(0, from, count), target.narrow(0, from, count));
    }
    EXPECT_NEAR(value(), expected, 1e-7) << batch << ": Σt² − (Σt)²/n would leave no digit";
  }
}

TEST_F(R2Test, BatchesOfModerateMeanAgreeToTwelveDigits) {
  const at::Tensor target = drawn({500, 2}) + 3;
  const at::Tensor prediction = target + drawn({500, 2}) * 0.5;
  for (int64_t from = 0; from < 500; from += 50) update(prediction.narrow(0, from, 50), target.narrow(0, from, 50));
  EXPECT_NEAR(value(), r2_of(prediction, target), 1e-12);
}

/// Rank `rank` of several that take turns: what each sent is kept by the order of calls.
class Turns final : public Collectives {
 public:
  Turns(int64_t rank, int64_t world, std::vector<std::vector<at::Tensor>>& sent)
      : rank_(rank), world_(world), sent_(sent) {}

  [[nodiscard]] int64_t rank() const noexcept override { return rank_; }
  [[nodiscard]] int64_t world() const noexcept override { return world_; }
  void all_reduce(at::Tensor& tensor, Op op) override {
    auto& own = sent_[static_cast<std::size_t>(rank_)];
    if (own.size() <= call_) own.push_back(tensor.clone());
    for (std::size_t other = 0; other < sent_.size(); ++other) {
      if (other == static_cast<std::size_t>(rank_)) continue;
      if (sent_[other].size() <= call_) throw std::out_of_range("the other rank comes first");
      const at::Tensor& theirs = sent_[other][call_];
      tensor.copy_(op == Op::kSum ? tensor + theirs : at::maximum(tensor, theirs));
    }
    ++call_;
  }
  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor}; }
  void broadcast(at::Tensor& /*tensor*/, int64_t /*root*/) override {}
  void barrier() override {}

 private:
  int64_t rank_;
  int64_t world_;
  std::vector<std::vector<at::Tensor>>& sent_;
  std::size_t call_ = 0;
};

TEST_F(R2Test, MergesTheMomentsOfAllRanks) {
  const at::Tensor target = at::cat({drawn({30, 2}) + 100, drawn({70, 2}) - 100});
  const at::Tensor prediction = target + drawn({100, 2}) * 60;
  const double expected = r2_of(prediction, target);
  const Made<Metric> third = made();
  const Made<Metric> second = made();
  update(*metric_, prediction.narrow(0, 0, 30), target.narrow(0, 0, 30));
  update(*second, prediction.narrow(0, 30, 70), target.narrow(0, 30, 70));
  const std::vector<Metric*> ranks{metric_.get(), second.get(), third.get()};  // the last one saw nothing
  std::vector<std::vector<at::Tensor>> sent(ranks.size());
  std::vector<double> values(ranks.size(), 0);
  for (std::size_t left = ranks.size(); left > 0;) {
    left = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      Turns turns(static_cast<int64_t>(rank), 3, sent);
      try {
        values[rank] = ranks[rank]->compute(turns).at(0);
      } catch (const std::out_of_range&) {
        ++left;
      }
    }
  }
  for (const double value : values) EXPECT_NEAR(value, expected, 1e-12);
}

TEST_F(R2Test, IsNoNumberWhereATargetIsConstant) {
  EXPECT_TRUE(std::isnan(value())) << "no sample";
  update(at::zeros({0, 2}), at::zeros({0, 2}));
  EXPECT_TRUE(std::isnan(value())) << "still none";
  update(at::ones({1, 2}), at::zeros({1, 2}));
  EXPECT_TRUE(std::isnan(value())) << "one sample is constant";
  for (const int64_t batch : {1, 3}) {
    metric_->reset();
    for (int64_t i = 0; i < 9; i += batch) {
      update(drawn({batch, 2}), at::cat({drawn({batch, 1}), at::full({batch, 1}, 0.1, at::kDouble)}, 1));
    }
    EXPECT_TRUE(std::isnan(value())) << "a mean that is rounded must not make a spread: " << batch;
  }
  metric_->reset();
  update(drawn({9, 2}), drawn({9, 2}));
  EXPECT_TRUE(std::isfinite(value()));
}

TEST_F(R2Test, AnErrorThatIsNoNumberStaysVisible) {
  update(at::full({3}, std::nan("")), at::arange(3, at::TensorOptions(at::kDouble)));
  EXPECT_TRUE(std::isnan(value()));
}

TEST_F(R2Test, TakesAnAxisOfOneForNoneAndNamesOtherShapes) {
  const at::Tensor target = at::tensor({1.0, 2.0, 6.0}, at::TensorOptions(at::kDouble));
  update(target.unsqueeze(1), target);
  EXPECT_EQ(value(), 1);
  const Error shapes = error_of([&] { update(at::zeros({4, 2}), at::zeros({4})); });
  EXPECT_EQ(shapes.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(shapes.what()).find("float32[4, 2], but target is float32[4]"), std::string::npos)
      << shapes.what();
  const Error width = error_of([&] { update(at::zeros({4, 2}), at::zeros({4, 2})); });
  EXPECT_NE(std::string(width.what()).find("an earlier batch had 1 element(s)"), std::string::npos) << width.what();
}

TEST_F(R2Test, SaysWhatIsBetterAndInWhichUnits) {
  const std::string manifest = descriptor("tenon_metrics", "r2").describe();
  EXPECT_NE(manifest.find(R"("direction":"max","name":"r2")"), std::string::npos) << manifest;
  EXPECT_NE(manifest.find(R"("like":"target","name":"prediction")"), std::string::npos) << manifest;
}

}  // namespace
}  // namespace tenon::test
