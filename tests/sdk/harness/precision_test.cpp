// Precision policies in the harness's own training steps.
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <tenon/harness/gtest.hpp>
#include <tenon/harness/network.hpp>
#include <tenon/harness/precision.hpp>
#include <tenon/nn/linear.hpp>

namespace tenon::harness {
namespace {

/// Anything that a policy may be; the scale is divided by `back_off` after gradients that are not finite.
class Policy final : public Precision {
 public:
  explicit Policy(double scale = 1, double back_off = 1) : now_(scale), back_off_(back_off) {}

  [[nodiscard]] at::ScalarType storage() const override { return kept; }
  [[nodiscard]] std::optional<at::ScalarType> autocast() const override { return cast; }
  [[nodiscard]] double scale() const override { return now_; }
  void update(bool finite) override {
    told.push_back(finite);
    if (!finite) now_ /= back_off_;
  }

  at::ScalarType kept = at::kFloat;
  std::optional<at::ScalarType> cast;
  std::vector<bool> told;

 private:
  double now_;
  double back_off_;
};

class Line final : public nn::Module {
 public:
  Tensors forward(const Tensors& in, StepContext& context) override { return {{"y", layer_(in.at("x"), context)}}; }

 private:
  nn::Linear layer_{this, "layer", 2, 3};
};

TEST(HarnessPrecision, ForwardRunsInTheTypesOfThePolicyAndLeavesAutocastAsItWas) {
  Line line;
  materialize(line, 1);
  const Tensors in{{"x", at::ones({4, 2}, at::TensorOptions(at::kDouble))}};
  Policy plain;
  Policy half;
  half.cast = at::kBFloat16;
  EXPECT_EQ(run(half, line, in, false).at("y").scalar_type(), at::kBFloat16);
  EXPECT_EQ(run(plain, line, in, false).at("y").scalar_type(), at::kFloat);

  Line wide;
  materialize(wide, 1, at::kDouble);
  Policy fp64;
  fp64.kept = at::kDouble;
  EXPECT_EQ(run(fp64, wide, {{"x", in.at("x").to(at::kFloat)}}, false).at("y").scalar_type(), at::kDouble);
}

TEST(HarnessPrecision, TrainingLearnsAndTellsThePolicyOfEveryStep) {
  Policy plain;
  const std::vector<Attempt> attempts = train(plain, 100);
  ASSERT_EQ(attempts.size(), 100U);
  EXPECT_LT(attempts.back().loss, 0.1 * attempts.front().loss);
  EXPECT_EQ(plain.told, std::vector<bool>(100, true));
}

TEST(HarnessPrecision, AScaleThatIsAPowerOfTwoChangesNoNumber) {
  Policy plain;
  Policy scaled(1024);
  const std::vector<Attempt> one = train(plain, 20);
  const std::vector<Attempt> other = train(scaled, 20);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].loss, other[i].loss) << i;
}

TEST(HarnessPrecision, AStepWhoseGradientsOverflowMovesNothingAndThePolicyKnows) {
  Policy policy(1e38, 1e10);
  policy.cast = at::kHalf;
  const std::vector<Attempt> attempts = train(policy, 30);
  EXPECT_FALSE(attempts.front().applied);
  EXPECT_EQ(attempts[1].loss, attempts[0].loss);
  EXPECT_EQ(attempts[1].scale, 1e28);
  EXPECT_TRUE(attempts.back().applied);
  EXPECT_LT(attempts.back().loss, attempts.front().loss);
  for (std::size_t i = 0; i < attempts.size(); ++i) EXPECT_EQ(policy.told[i], attempts[i].applied) << i;
}

TEST(HarnessPrecision, ScalesAreThoseBeforeEachStepAndTheLast) {
  Policy policy(8, 2);
  EXPECT_EQ(scales(policy, {true, false, false, true}), (std::vector<double>{8, 8, 4, 2, 2}));
}

TEST(HarnessPrecision, RefusesScalesThatAreNotFiniteOrNotAboveZero) {
  for (const double scale : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    Policy policy(scale);
    EXPECT_TRUE(refused([&] { (void)scales(policy, {true}); }, ErrorCode::kPlugin, "", "must be finite and above 0"));
    EXPECT_TRUE(refused([&] { (void)train(policy, 1); }, ErrorCode::kPlugin, "", "must be finite and above 0"));
  }
}

}  // namespace
}  // namespace tenon::harness
