// loss:pixel_cross_entropy and loss:dice against plain loops over the pixels, for masks of every integer type.
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/loss.hpp>

namespace tenon::test {
namespace {

constexpr int64_t kImages = 4;
constexpr int64_t kClasses = 3;
constexpr int64_t kPixels = 5 * 6;
constexpr int64_t kIgnored = 100;

class PixelLossTest : public ::testing::Test {
 protected:
  void SetUp() override {
    at::Generator random = at::detail::createCPUGenerator(8);
    logits_ = at::randn({kImages, kClasses, 5, 6}, random, at::TensorOptions(at::kDouble)).mul_(2);
    mask_ = at::randint(0, kClasses, {kImages, 5, 6}, random, at::TensorOptions(at::kLong));
    mask_.masked_fill_(at::rand({kImages, 5, 6}, random, at::TensorOptions(at::kDouble)) < 0.2, kIgnored);
    mask_[2].fill_(kIgnored);
  }
  at::Tensor sum(Loss& loss, const at::Tensor& logits, const at::Tensor& mask) {
    StepContext context(single_->join(), 0, true, 1, at::Generator());
    return loss.sum({{"logits", logits}, {"target", mask}}, context);
  }
  static double weight(Loss& loss, const at::Tensor& mask) { return loss.weight({{"target", mask}}).item<double>(); }

  [[nodiscard]] int64_t target(int64_t image, int64_t pixel) const {
    return mask_.const_data_ptr<int64_t>()[image * kPixels + pixel];
  }
  [[nodiscard]] double probability(int64_t image, int64_t of, int64_t pixel) const {
    const auto* const x = logits_.const_data_ptr<double>() + image * kClasses * kPixels + pixel;
    double all = 0;
    for (int64_t c = 0; c < kClasses; ++c) all += std::exp(x[c * kPixels]);
    return std::exp(x[of * kPixels]) / all;
  }

  void expect_to_add_over_micro_batches(Loss& loss) {
    double sums = 0;
    double weights = 0;
    for (const auto& [from, count] : {std::pair<int64_t, int64_t>{0, 1}, {1, 3}}) {
      sums += sum(loss, logits_.narrow(0, from, count), mask_.narrow(0, from, count)).item<double>();
      weights += weight(loss, mask_.narrow(0, from, count));
    }
    EXPECT_NEAR(sums, sum(loss, logits_, mask_).item<double>(), 1e-10);
    EXPECT_NEAR(weights, weight(loss, mask_), 1e-12);
  }

  /// The same value for masks of every type, whatever lies at the ignored pixels.
  void expect_every_integer_type(Loss& loss) {
    const auto expected = sum(loss, logits_, mask_).item<double>();
    for (const at::ScalarType type : {at::kByte, at::kChar, at::kShort, at::kInt}) {
      EXPECT_EQ(sum(loss, logits_, mask_.to(type)).item<double>(), expected) << type;
      EXPECT_EQ(weight(loss, mask_.to(type)), weight(loss, mask_)) << type;
    }
    at::Tensor others = logits_.clone();
    others.masked_fill_(mask_.eq(kIgnored).unsqueeze(1), 7);
    EXPECT_NEAR(sum(loss, others, mask_).item<double>(), expected, 1e-12);
  }

  void expect_to_refuse_what_does_not_fit(Loss& loss) {
    at::Tensor wrong = mask_.clone();
    wrong[1][2][3] = kClasses;
    const Error range = error_of([&] { (void)sum(loss, logits_, wrong); });
    EXPECT_EQ(range.code(), ErrorCode::kData);
    EXPECT_STREQ(range.what(), "target 3 is no class: there are 3 (0 to 2), and ignore is 100");
    for (const at::Tensor& other : {mask_.narrow(1, 0, 4), mask_.unsqueeze(1), mask_.narrow(0, 0, 2)}) {
      const Error shape = error_of([&] { (void)sum(loss, logits_, other); });
      EXPECT_EQ(shape.code(), ErrorCode::kConfig);
      EXPECT_NE(std::string(shape.what()).find("[4, 3, 5, 6]"), std::string::npos) << shape.what();
    }
  }

  Made<Distributed> single_ = make<Distributed>("tenon_distributed", "single");
  at::Tensor logits_;
  at::Tensor mask_;
};

class PixelCrossEntropyTest : public PixelLossTest {
 protected:
  Made<Loss> loss_ = make<Loss>("tenon_losses", "pixel_cross_entropy", R"({"ignore": 100})");
};

TEST_F(PixelCrossEntropyTest, IsTheFormula) {
  const std::vector<double> weights{1, 0.5, 3};
  double plain = 0;
  double weighted = 0;
  double count = 0;
  double total = 0;
  for (int64_t image = 0; image < kImages; ++image) {
    for (int64_t pixel = 0; pixel < kPixels; ++pixel) {
      const int64_t y = target(image, pixel);
      if (y == kIgnored) continue;
      const double nll = -std::log(probability(image, y, pixel));
      plain += nll;
      weighted += weights[static_cast<std::size_t>(y)] * nll;
      count += 1;
      total += weights[static_cast<std::size_t>(y)];
    }
  }
  EXPECT_NEAR(sum(*loss_, logits_, mask_).item<double>(), plain, 1e-10);
  EXPECT_EQ(weight(*loss_, mask_), count);
  const auto with_weights =
      make<Loss>("tenon_losses", "pixel_cross_entropy", R"({"ignore": 100, "class_weights": [1, 0.5, 3]})");
  EXPECT_NEAR(sum(*with_weights, logits_, mask_).item<double>(), weighted, 1e-10);
  EXPECT_NEAR(weight(*with_weights, mask_), total, 1e-10);
}

TEST_F(PixelCrossEntropyTest, AddsOverMicroBatches) { expect_to_add_over_micro_batches(*loss_); }
TEST_F(PixelCrossEntropyTest, TakesMasksOfEveryIntegerType) { expect_every_integer_type(*loss_); }
TEST_F(PixelCrossEntropyTest, RefusesWhatDoesNotFit) { expect_to_refuse_what_does_not_fit(*loss_); }

TEST_F(PixelCrossEntropyTest, GivesNoGradientToPixelsThatDoNotCount) {
  logits_.requires_grad_(true);
  sum(*loss_, logits_, mask_).backward();
  const at::Tensor touched = logits_.grad().ne(0).any(1);
  EXPECT_TRUE(at::equal(touched, mask_.ne(kIgnored)));
}

TEST_F(PixelCrossEntropyTest, LeavesOut255ByItself) {
  const auto loss = make<Loss>("tenon_losses", "pixel_cross_entropy");
  EXPECT_EQ(weight(*loss, at::full({1, 2, 2}, 255, at::TensorOptions(at::kByte))), 0);
  EXPECT_EQ(weight(*loss, at::full({1, 2, 2}, 1, at::TensorOptions(at::kByte))), 4);
}

class DiceTest : public PixelLossTest {
 protected:
  Made<Loss> loss_ = make<Loss>("tenon_losses", "dice", R"({"ignore": 100, "smooth": 0.5})");
};

TEST_F(DiceTest, IsTheFormula) {
  double expected = 0;
  for (int64_t image = 0; image < kImages; ++image) {
    for (int64_t c = 0; c < kClasses; ++c) {
      double overlap = 0;
      double area = 0;
      for (int64_t pixel = 0; pixel < kPixels; ++pixel) {
        if (target(image, pixel) == kIgnored) continue;
        const double p = probability(image, c, pixel);
        const double g = target(image, pixel) == c ? 1 : 0;
        overlap += p * g;
        area += p + g;
      }
      expected += (1 - (2 * overlap + 0.5) / (area + 0.5)) / kClasses;
    }
  }
  EXPECT_NEAR(sum(*loss_, logits_, mask_).item<double>(), expected, 1e-10);
  EXPECT_EQ(weight(*loss_, mask_), kImages - 1) << "one image is ignored altogether";
}

TEST_F(DiceTest, IsNothingForASureAndRightPrediction) {
  const at::Tensor mask = mask_.masked_fill(mask_.eq(kIgnored), 0);
  const at::Tensor sure = at::zeros_like(logits_).scatter_(1, mask.unsqueeze(1), 60);
  EXPECT_NEAR(sum(*loss_, sure, mask).item<double>(), 0, 1e-12);
  EXPECT_GT(sum(*loss_, -sure, mask).item<double>(), 0.9 * kImages);
}

TEST_F(DiceTest, AddsOverMicroBatches) { expect_to_add_over_micro_batches(*loss_); }
TEST_F(DiceTest, TakesMasksOfEveryIntegerType) { expect_every_integer_type(*loss_); }
TEST_F(DiceTest, RefusesWhatDoesNotFit) { expect_to_refuse_what_does_not_fit(*loss_); }

}  // namespace
}  // namespace tenon::test
