// loss:cross_entropy against the formula written out in float64, and against libtorch's mean.
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/loss.hpp>

namespace tenon::test {
namespace {

struct Case {
  std::string name;
  double smoothing = 0;
  std::vector<double> weights;
  std::vector<int64_t> rest;  // axes after the classes
  bool ignores = false;
};

constexpr int64_t kClasses = 4;
constexpr int64_t kIgnored = 255;

std::string json(const Case& values) {
  std::ostringstream text;
  text << R"({"ignore_index": 255, "label_smoothing": )" << values.smoothing << R"(, "class_weights": [)";
  for (std::size_t i = 0; i < values.weights.size(); ++i) text << (i == 0 ? "" : ",") << values.weights[i];
  text << "]}";
  return text.str();
}

class CrossEntropyTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    at::Generator random = at::detail::createCPUGenerator(5);
    std::vector<int64_t> shape{6, kClasses};
    std::vector<int64_t> target_shape{6};
    for (const int64_t axis : GetParam().rest) {
      shape.push_back(axis);
      target_shape.push_back(axis);
    }
    logits_ = at::randn(shape, random, at::TensorOptions(at::kDouble)).mul_(3).requires_grad_(true);
    target_ = at::randint(0, kClasses, target_shape, random, at::TensorOptions(at::kLong));
    if (GetParam().ignores)
      target_.masked_fill_(at::rand(target_shape, random, at::TensorOptions(at::kDouble)) < 0.3, kIgnored);
    loss_ = make<Loss>("tenon_losses", "cross_entropy", json(GetParam()));
  }

  at::Tensor sum(const at::Tensor& logits, const at::Tensor& target) {
    StepContext context(single_->join(), 0, true, 1, at::Generator());
    return loss_->sum({{"logits", logits}, {"target", target}}, context);
  }
  double weight(const at::Tensor& target) { return loss_->weight({{"target", target}}).item<double>(); }

  Made<Distributed> single_ = make<Distributed>("tenon_distributed", "single");
  Made<Loss> loss_;
  at::Tensor logits_;
  at::Tensor target_;
};

TEST_P(CrossEntropyTest, IsTheFormula) {
  const Case& values = GetParam();
  const at::Tensor rows = logits_.detach().movedim(1, -1).reshape({-1, kClasses}).contiguous();
  const at::Tensor targets = target_.reshape({-1}).contiguous();
  const auto* const x = rows.const_data_ptr<double>();
  double expected_sum = 0;
  double expected_weight = 0;
  for (int64_t row = 0; row < rows.size(0); ++row) {
    const int64_t y = targets.const_data_ptr<int64_t>()[row];
    if (y == kIgnored) continue;
    double normalizer = 0;
    for (int64_t c = 0; c < kClasses; ++c) normalizer += std::exp(x[row * kClasses + c]);
    const auto weight_of = [&](int64_t c) {
      return values.weights.empty() ? 1.0 : values.weights[static_cast<std::size_t>(c)];
    };
    const auto nll = [&](int64_t c) { return weight_of(c) * (std::log(normalizer) - x[row * kClasses + c]); };
    double spread = 0;
    for (int64_t c = 0; c < kClasses; ++c) spread += nll(c);
    expected_sum += (1 - values.smoothing) * nll(y) + values.smoothing / kClasses * spread;
    expected_weight += weight_of(y);
  }
  EXPECT_NEAR(sum(logits_, target_).item<double>(), expected_sum, 1e-10);
  EXPECT_NEAR(weight(target_), expected_weight, 1e-12);
}

TEST_P(CrossEntropyTest, DividedByItsWeightIsLibtorchsMeanWithItsGradient) {
  const Case& values = GetParam();
  std::optional<at::Tensor> weights;
  if (!values.weights.empty()) weights = at::tensor(values.weights, at::TensorOptions(at::kDouble));
  const at::Tensor mean =
      at::cross_entropy_loss(logits_, target_, weights, at::Reduction::Mean, kIgnored, values.smoothing);
  mean.backward();
  const at::Tensor expected = logits_.grad().clone();
  logits_.mutable_grad() = at::Tensor();
  const at::Tensor ours = sum(logits_, target_) / weight(target_);
  ours.backward();
  EXPECT_NEAR(ours.item<double>(), mean.item<double>(), 1e-12);
  EXPECT_TRUE(at::allclose(logits_.grad(), expected, 1e-10, 1e-12));
}

TEST_P(CrossEntropyTest, SumAndWeightAddOverMicroBatches) {
  double sums = 0;
  double weights = 0;
  for (const auto& [from, count] : {std::pair<int64_t, int64_t>{0, 1}, {1, 3}, {4, 2}}) {
    sums += sum(logits_.narrow(0, from, count), target_.narrow(0, from, count)).item<double>();
    weights += weight(target_.narrow(0, from, count));
  }
  EXPECT_NEAR(sums, sum(logits_, target_).item<double>(), 1e-10);
  EXPECT_NEAR(weights, weight(target_), 1e-12);
}

TEST_P(CrossEntropyTest, RefusesATargetThatIsNoClass) {
  for (const int64_t wrong : {int64_t{-1}, kClasses, int64_t{-100}}) {
    at::Tensor target = target_.clone();
    target.view({-1})[3] = wrong;
    const Error error = error_of([&] { (void)sum(logits_, target); });
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_NE(std::string(error.what()).find("target " + std::to_string(wrong)), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("there are 4 (0 to 3)"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, CrossEntropyTest,
                         ::testing::Values(Case{"plain", 0, {}, {}, false}, Case{"smoothed", 0.1, {}, {}, true},
                                           Case{"weighted", 0, {1, 0.5, 0, 2}, {}, true},
                                           Case{"all_at_once", 0.2, {1, 0.5, 0.25, 2}, {3}, true},
                                           Case{"pixels", 0.1, {2, 1, 1, 0.5}, {3, 5}, true}),
                         [](const auto& each) { return each.param.name; });

TEST(CrossEntropy, WeighsNothingWhereAllIsIgnored) {
  const auto loss = make<Loss>("tenon_losses", "cross_entropy");
  const auto single = make<Distributed>("tenon_distributed", "single");
  const at::Tensor target = at::full({3}, -100, at::TensorOptions(at::kLong));
  StepContext context(single->join(), 0, true, 1, at::Generator());
  EXPECT_EQ(loss->weight({{"target", target}}).item<double>(), 0);
  EXPECT_EQ(loss->sum({{"logits", at::ones({3, 2})}, {"target", target}}, context).item<double>(), 0);
}

TEST(CrossEntropy, RefusesWeightsOfAnotherNumberOfClasses) {
  const auto loss = make<Loss>("tenon_losses", "cross_entropy", R"({"class_weights": [1, 2]})");
  const auto single = make<Distributed>("tenon_distributed", "single");
  StepContext context(single->join(), 0, true, 1, at::Generator());
  const at::Tensor target = at::zeros({3}, at::TensorOptions(at::kLong));
  const Error error = error_of([&] { (void)loss->sum({{"logits", at::ones({3, 5})}, {"target", target}}, context); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.pointer(), "/class_weights");
  EXPECT_NE(std::string(error.what()).find("2 elements, but logits have 5"), std::string::npos) << error.what();
}

TEST(CrossEntropy, ChecksItsParameters) {
  const auto made = [](const std::string& params) { (void)make<Loss>("tenon_losses", "cross_entropy", params); };
  EXPECT_EQ(error_of([&] { made(R"({"label_smoothing": 1})"); }).pointer(), "/label_smoothing");
  EXPECT_EQ(error_of([&] { made(R"({"class_weights": [1, -1]})"); }).pointer(), "/class_weights/1");
  const Error all_zero = error_of([&] { made(R"({"class_weights": [0, 0.0, 0]})"); });
  EXPECT_EQ(all_zero.code(), ErrorCode::kConfig);
  EXPECT_EQ(all_zero.pointer(), "/class_weights");
}

}  // namespace
}  // namespace tenon::test
