// metric:iou against counting pixel by pixel, over batches and ranks.
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/metric.hpp>

namespace tenon::test {
namespace {

const at::TensorOptions kLongs(at::kLong);

/// Logits [N, classes, H, W] of which `predictions` [N, H, W] are the highest.
at::Tensor logits_of(const at::Tensor& predictions, int64_t classes) {
  const at::Tensor number = at::arange(classes, kLongs).view({1, classes, 1, 1});
  return predictions.unsqueeze(1).eq(number).to(at::kFloat);
}

struct Overlaps {
  double mean = 0;
  double lowest = 1;
  double accuracy = 0;
};

Overlaps plain(const at::Tensor& predictions, const at::Tensor& masks, int64_t classes, int64_t ignored) {
  const at::Tensor p = predictions.contiguous();
  const at::Tensor m = masks.contiguous();
  Overlaps found;
  double occurring = 0;
  double right = 0;
  double counted = 0;
  for (int64_t c = 0; c < classes; ++c) {
    double both = 0;
    double either = 0;
    for (int64_t i = 0; i < m.numel(); ++i) {
      const int64_t mask = m.const_data_ptr<int64_t>()[i];
      const int64_t prediction = p.const_data_ptr<int64_t>()[i];
      if (mask == ignored) continue;
      both += mask == c && prediction == c ? 1 : 0;
      either += mask == c || prediction == c ? 1 : 0;
      counted += c == 0 ? 1 : 0;
    }
    right += both;
    if (either == 0) continue;
    occurring += 1;
    found.mean += both / either;
    found.lowest = std::min(found.lowest, both / either);
  }
  return {found.mean / occurring, found.lowest, right / counted};
}

class IouTest : public ::testing::Test {
 protected:
  void SetUp() override {
    at::Generator random = at::detail::createCPUGenerator(4);
    predictions_ = at::randint(0, 4, {6, 5, 7}, random, kLongs);
    masks_ = at::randint(0, 4, {6, 5, 7}, random, kLongs);
    masks_.masked_fill_(at::rand({6, 5, 7}, random, at::TensorOptions(at::kFloat)) < 0.2, 255);
  }
  void update(const at::Tensor& logits, const at::Tensor& masks) {
    metric_->update({{"logits", logits}, {"target", masks}});
  }
  void expect(const Overlaps& expected) {
    const std::vector<double> found = metric_->compute(alone_);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_NEAR(found[0], expected.mean, 1e-14);
    EXPECT_NEAR(found[1], expected.lowest, 1e-14);
    EXPECT_NEAR(found[2], expected.accuracy, 1e-14);
  }

  OneRank alone_;
  Made<Metric> metric_ = make<Metric>("tenon_metrics", "iou");
  at::Tensor predictions_;
  at::Tensor masks_;
};

TEST_F(IouTest, AveragesOverTheClassesHoweverImagesAreBatched) {
  const at::Tensor logits = logits_of(predictions_, 5);
  for (const int64_t batch : {1, 4, 6}) {
    metric_->reset();
    for (int64_t from = 0; from < 6; from += batch) {
      const int64_t count = std::min(batch, 6 - from);
      update(logits.narrow(0, from, count), masks_.narrow(0, from, count));
    }
    expect(plain(predictions_, masks_, 5, 255));
  }
}

TEST_F(IouTest, TakesMasksOfEveryIntegerType) {
  for (const at::ScalarType type : {at::kByte, at::kShort, at::kInt}) {
    metric_->reset();
    update(logits_of(predictions_, 4), masks_.to(type));
    expect(plain(predictions_, masks_, 4, 255));
  }
}

TEST_F(IouTest, IsOfKnownValueByHand) {
  const at::Tensor masks = at::tensor({0, 0, 0, 1, 1, 255}, kLongs).view({1, 2, 3});
  const at::Tensor predictions = at::tensor({0, 0, 1, 1, 2, 2}, kLongs).view({1, 2, 3});
  update(logits_of(predictions, 4), masks);
  expect({(2.0 / 3 + 1.0 / 3 + 0) / 3, 0, 3.0 / 5});
}

TEST_F(IouTest, OneLogitMeansTheSecondClassAboveZero) {
  const at::Tensor logits = at::tensor({-2.0F, 0.5F, 0.0F, 3.0F}, at::kFloat).view({1, 1, 2, 2});
  update(logits, at::tensor({0, 1, 1, 1}, kLongs).view({1, 2, 2}));
  expect({(1.0 / 2 + 2.0 / 3) / 2, 1.0 / 2, 3.0 / 4});
}

TEST_F(IouTest, AnImageOfNaNIsWrongEverywhere) {
  update(logits_of(predictions_, 4) * std::nan(""), masks_);
  expect({0, 0, 0});
}

TEST_F(IouTest, OfNothingIsNoNumber) {
  for (const double value : metric_->compute(alone_)) EXPECT_TRUE(std::isnan(value));
  update(logits_of(predictions_, 4), at::full({6, 5, 7}, 255, kLongs));
  for (const double value : metric_->compute(alone_)) EXPECT_TRUE(std::isnan(value));
}

TEST_F(IouTest, NamesAPixelThatIsNoClass) {
  masks_[0][0][0] = 9;
  update(logits_of(predictions_, 4), masks_);
  const Error error = error_of([&] { (void)metric_->compute(alone_); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_NE(std::string(error.what()).find("target 9 is no class: there are 4 (0 to 3), and ignore is 255"),
            std::string::npos)
      << error.what();
}

/// Two ranks, of which the other one saw what this one saw.
class Twins final : public Collectives {
 public:
  [[nodiscard]] int64_t rank() const noexcept override { return 0; }
  [[nodiscard]] int64_t world() const noexcept override { return 2; }
  void all_reduce(at::Tensor& tensor, Op op) override {
    if (op == Op::kSum) tensor.mul_(2);
  }
  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor, tensor}; }
  void broadcast(at::Tensor& /*tensor*/, int64_t /*root*/) override {}
  void barrier() override {}
};

TEST_F(IouTest, MergesCountsAndNotMeansOverRanksAndStaysUsable) {
  update(logits_of(predictions_, 4), masks_);
  Twins twins;
  EXPECT_NEAR(metric_->compute(twins).at(0), plain(predictions_, masks_, 4, 255).mean, 1e-14);
  expect(plain(predictions_, masks_, 4, 255));
}

TEST(Iou, GivesTheMeanFirst) {
  const std::string manifest = descriptor("tenon_metrics", "iou").describe();
  EXPECT_LT(manifest.find("\"mean_iou\""), manifest.find("\"lowest_iou\""));
  EXPECT_NE(manifest.find("\"pixel_accuracy\""), std::string::npos);
}

TEST(ClassMetrics, SayWhichTargetTheirLogitsScore) {
  for (const char* const name : {"accuracy", "confusion", "iou"}) {
    const std::string manifest = descriptor("tenon_metrics", name).describe();
    EXPECT_NE(manifest.find(R"("classes":"target")"), std::string::npos) << manifest;
  }
}

}  // namespace
}  // namespace tenon::test
