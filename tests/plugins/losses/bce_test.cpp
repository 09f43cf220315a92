// loss:bce against the formula written out in float64, and what it refuses.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/loss.hpp>

namespace tenon::test {
namespace {

class BceTest : public ::testing::Test {
 protected:
  void use(const std::string& params) { bce_ = make<Loss>("tenon_losses", "bce", params); }

  at::Tensor drawn(const std::vector<int64_t>& shape) {
    return at::randn(shape, random_, at::TensorOptions(at::kDouble));
  }
  at::Tensor shares(const std::vector<int64_t>& shape) {
    return at::rand(shape, random_, at::TensorOptions(at::kDouble));
  }

  at::Tensor sum(const Tensors& in) {
    StepContext context(single_->join(), 0, true, 1, at::Generator());
    return bce_->sum(in, context);
  }

  /// Σ over samples of the weighted mean over their elements, and its gradient.
  struct Expected {
    double sum = 0;
    at::Tensor gradient;
  };
  static Expected formula(const at::Tensor& logits, const at::Tensor& target, const at::Tensor& weight,
                          double positive) {
    Expected all{0, at::empty_like(logits)};
    const int64_t elements = logits.numel() / logits.size(0);
    for (int64_t i = 0; i < logits.numel(); ++i) {
      const double x = logits.const_data_ptr<double>()[i];
      const double t = target.const_data_ptr<double>()[i];
      const double share = weight.const_data_ptr<double>()[i / elements] / static_cast<double>(elements);
      const double p = 1 / (1 + std::exp(-x));
      all.sum += share * (-positive * t * std::log(p) - (1 - t) * std::log1p(-p));
      all.gradient.mutable_data_ptr<double>()[i] = share * (-positive * t * (1 - p) + (1 - t) * p);
    }
    return all;
  }

  at::Generator random_ = at::detail::createCPUGenerator(5);
  Made<Distributed> single_ = make<Distributed>("tenon_distributed", "single");
  Made<Loss> bce_ = make<Loss>("tenon_losses", "bce");
};

TEST_F(BceTest, IsTheFormulaWithItsGradient) {
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{1}, {7}, {5, 1}, {5, 3}, {2, 3, 4}}) {
    for (const bool weighted : {false, true}) {
      for (const double positive : {1.0, 2.5}) {
        use(R"({"pos_weight": )" + std::to_string(positive) + "}");
        const at::Tensor logits = drawn(shape).mul_(3).requires_grad_(true);
        const at::Tensor target = shares(shape);
        const at::Tensor weight = weighted ? shares({shape[0]}) : at::ones({shape[0]}, at::kDouble);
        Tensors in{{"logits", logits}, {"target", target}};
        if (weighted) in.set("weight", weight);
        const Expected expected = formula(logits.detach(), target, weight, positive);
        const at::Tensor ours = sum(in);
        ours.backward();
        EXPECT_EQ(ours.dim(), 0);
        EXPECT_NEAR(ours.item<double>(), expected.sum, 1e-12 * expected.sum);
        EXPECT_TRUE(at::allclose(logits.grad(), expected.gradient, 1e-10, 1e-13));
      }
    }
  }
}

TEST_F(BceTest, AConstantTargetIsThatTargetForAll) {
  const at::Tensor logits = drawn({6, 2});
  for (const double target : {0.0, 0.9, 1.0}) {
    use(R"({"target": )" + std::to_string(target) + "}");
    const Expected expected =
        formula(logits, at::full_like(logits, target), at::ones({6}, at::TensorOptions(at::kDouble)), 1);
    EXPECT_NEAR(sum({{"logits", logits}}).item<double>(), expected.sum, 1e-12);
  }
}

TEST_F(BceTest, TakesTargetsOfAnyTypeAndAnAxisOfOneForNone) {
  const at::Tensor logits = drawn({4, 1});
  const at::Tensor target = at::tensor({0.0, 1.0, 1.0, 0.0}, at::TensorOptions(at::kDouble));
  const auto expected = sum({{"logits", logits.squeeze(1)}, {"target", target}}).item<double>();
  for (const at::ScalarType type : {at::kBool, at::kByte, at::kInt, at::kLong, at::kHalf, at::kFloat}) {
    EXPECT_EQ(sum({{"logits", logits}, {"target", target.to(type)}}).item<double>(), expected) << type;
    EXPECT_EQ(sum({{"logits", logits.squeeze(1)}, {"target", target.to(type).unsqueeze(1)}}).item<double>(), expected);
  }
}

TEST_F(BceTest, StaysFiniteForLargeLogitsAndSumsTypesOfSixteenBitsInFloat32) {
  const at::Tensor logits = at::full({300}, 500, at::TensorOptions(at::kHalf));
  const at::Tensor ours = sum({{"logits", logits}, {"target", at::zeros({300})}});
  EXPECT_EQ(ours.scalar_type(), at::kFloat);
  EXPECT_EQ(ours.item<double>(), 150000) << "beyond what float16 holds";
}

TEST_F(BceTest, WeighsSamplesOnceOrByTheirWeights) {
  const at::Tensor weight = at::tensor({0.5, 0.0, 2.0}, at::TensorOptions(at::kDouble));
  EXPECT_EQ(bce_->weight({{"target", drawn({3, 2})}, {"weight", weight}}).item<double>(), 2.5);
  EXPECT_EQ(bce_->weight({{"target", drawn({5, 3})}}).item<double>(), 5);
  EXPECT_FALSE(bce_->weight({}).defined()) << "the engine counts the samples";
}

TEST_F(BceTest, RefusesTargetsOutsideOfZeroToOne) {
  for (const double wrong : {-0.1, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    at::Tensor target = at::zeros({3, 2}, at::kDouble);
    target[1][0] = wrong;
    const Error error = error_of([&] { (void)sum({{"logits", drawn({3, 2})}, {"target", target}}); });
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_NE(std::string(error.what()).find("of sample 1 in the batch must lie between 0 and 1"), std::string::npos)
        << error.what();
  }
}

TEST_F(BceTest, RefusesShapesThatDifferAndNamesBoth) {
  for (const auto& shapes : std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{
           {{4, 2}, {4}}, {{4}, {4, 2}}, {{4, 1}, {3}}, {{4, 3}, {4, 1}}}) {
    const Error error = error_of([&] {
      (void)sum({{"logits", drawn(shapes.first)}, {"target", shares(shapes.second)}});
    });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_NE(std::string(error.what()).find("logits [4"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("and target ["), std::string::npos) << error.what();
  }
  const Error weight = error_of([&] {
    (void)sum({{"logits", drawn({4, 2})}, {"target", shares({4, 2})}, {"weight", shares({3})}});
  });
  EXPECT_NE(std::string(weight.what()).find("logits [4, 2]"), std::string::npos) << weight.what();
}

TEST_F(BceTest, HasOneTargetNotTwoOrNone) {
  const Error none = error_of([&] { (void)sum({{"logits", drawn({3})}}); });
  EXPECT_EQ(none.code(), ErrorCode::kConfig);
  EXPECT_EQ(none.pointer(), "/target");
  use(R"({"target": 1})");
  const Error two = error_of([&] { (void)sum({{"logits", drawn({3})}, {"target", shares({3})}}); });
  EXPECT_EQ(two.code(), ErrorCode::kConfig);
  EXPECT_EQ(two.pointer(), "/target");
}

TEST_F(BceTest, IsPlannedOnTheMetaDevice) {
  const at::TensorOptions meta = at::TensorOptions(at::kFloat).device(at::kMeta);
  EXPECT_EQ(sum({{"logits", at::empty({4, 1}, meta)}, {"target", at::empty({4}, meta.dtype(at::kLong))}}).dim(), 0);
  use(R"({"target": 0, "pos_weight": 2})");
  EXPECT_EQ(sum({{"logits", at::empty({4, 2}, meta)}}).dim(), 0);
}

TEST_F(BceTest, ChecksItsParameters) {
  EXPECT_EQ(error_of([&] { use(R"({"target": 1.5})"); }).pointer(), "/target");
  EXPECT_EQ(error_of([&] { use(R"({"target": "batch"})"); }).pointer(), "/target");
  EXPECT_EQ(error_of([&] { use(R"({"pos_weight": 0})"); }).pointer(), "/pos_weight");
}

}  // namespace
}  // namespace tenon::test
