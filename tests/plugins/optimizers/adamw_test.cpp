// optimizer:adamw against the formula written out in float64, and its state.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <plugins/support/plugin.hpp>
#include <tenon/harness/memory_state.hpp>
#include <tenon/harness/param_groups.hpp>

namespace tenon::test {
namespace {

constexpr double kBeta1 = 0.8;
constexpr double kBeta2 = 0.95;
constexpr double kEps = 1e-6;
constexpr const char* kParams = R"({"beta1": 0.8, "beta2": 0.95, "eps": 1e-6})";

std::vector<ParamGroup> groups_of(at::ScalarType dtype) {
  return two_groups(dtype, {{"lr", 0.01}, {"weight_decay", 0.1}}, {{"lr", 0.003}, {"weight_decay", 0}});
}

/// The formula, element by element.
struct Reference {
  std::vector<double> p, m, v;
  int64_t t = 0;

  explicit Reference(const at::Tensor& param) : p(values_of(param)), m(p.size()), v(p.size()) {}

  void step(const at::Tensor& grad, double lr, double weight_decay) {
    ++t;
    const std::vector<double> grads = values_of(grad);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double g = grads[i];
      p[i] *= 1 - lr * weight_decay;
      m[i] = kBeta1 * m[i] + (1 - kBeta1) * g;
      v[i] = kBeta2 * v[i] + (1 - kBeta2) * g * g;
      const double mean = m[i] / (1 - std::pow(kBeta1, t));
      const double square = v[i] / (1 - std::pow(kBeta2, t));
      p[i] -= lr * mean / (std::sqrt(square) + kEps);
    }
  }
};

class AdamwTest : public ::testing::TestWithParam<at::ScalarType> {
 protected:
  AdamwTest() : groups_(groups_of(GetParam())), adamw_(make<Optimizer>("tenon_optimizers", "adamw", kParams)) {
    adamw_->attach(groups_);
  }

  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      fill_grads(groups_, random_);
      adamw_->step({});
    }
  }

  const c10::NoGradGuard no_grad_;
  at::Generator random_ = at::detail::createCPUGenerator(77);
  std::vector<ParamGroup> groups_;
  Made<Optimizer> adamw_;
};

TEST_P(AdamwTest, FollowsTheFormulaOverTwoHundredSteps) {
  std::vector<Reference> references;
  for (const ParamGroup& each : groups_) {
    for (const at::Tensor& param : each.params) references.emplace_back(param);
  }
  for (int step = 0; step < 200; ++step) {
    set_hyper(groups_[0], "lr", 0.01 * (1 + std::cos(step / 40.0)));
    fill_grads(groups_, random_);
    auto reference = references.begin();
    for (const ParamGroup& each : groups_) {
      for (const at::Tensor& grad : each.grads) (reference++)->step(grad, each.hypers[0].value, each.hypers[1].value);
    }
    adamw_->step({});
  }
  const double tolerance = GetParam() == at::kDouble ? 1e-12 : 1e-5;
  auto reference = references.cbegin();
  for (const ParamGroup& each : groups_) {
    for (std::size_t i = 0; i < each.params.size(); ++i) {
      EXPECT_LT(distance(each.params[i], (reference++)->p), tolerance) << each.names[i];
    }
  }
}

TEST_P(AdamwTest, KeepsTheGapsBetweenParametersZero) {
  steps(20);
  EXPECT_EQ(groups_[0].flat_param.narrow(0, 15, 49).abs().max().item<double>(), 0);
  EXPECT_EQ(groups_[0].flat_param.narrow(0, 71, 57).abs().max().item<double>(), 0);
}

TEST_P(AdamwTest, GoesOnAfterARestartWithEqualBytes) {
  steps(7);
  MemoryState state;
  adamw_->state(state);
  std::vector<ParamGroup> copies = groups_of(GetParam());
  for (std::size_t i = 0; i < copies.size(); ++i) copies[i].flat_param.copy_(groups_[i].flat_param);
  const auto restarted = make<Optimizer>("tenon_optimizers", "adamw", kParams);
  restarted->attach(copies);
  state.restore();
  restarted->state(state);

  for (int step = 0; step < 5; ++step) {
    fill_grads(groups_, random_);
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i].flat_grad.copy_(groups_[i].flat_grad);
    adamw_->step({});
    restarted->step({});
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    EXPECT_TRUE(at::equal(copies[i].flat_param, groups_[i].flat_param)) << i;
  }
}

TEST_P(AdamwTest, SavesByParameterName) {
  steps(3);
  MemoryState state;
  adamw_->state(state);
  std::vector<std::string> names;
  for (const auto& [name, value] : state.values()) names.push_back(name);
  std::vector<std::string> expected;
  for (const char* const kind : {"exp_avg", "exp_avg_sq", "step"}) {
    for (const char* const param : {"net.body.conv.bias", "net.body.conv.weight", "net.head.bias", "net.head.weight"}) {
      expected.push_back(std::string(kind) + "/" + param);
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names, expected);
  EXPECT_EQ(std::get<int64_t>(state.values().at("step/net.head.weight")), 3);
  EXPECT_EQ(std::get<MemoryState::Saved>(state.values().at("exp_avg/net.head.weight")).shape, (Shape{3, 5}));
}

TEST_P(AdamwTest, RefusesStepsThatDisagreeWithinAGroup) {
  steps(3);
  MemoryState state;
  adamw_->state(state);
  state.values().at("step/net.head.bias") = int64_t{2};
  state.restore();
  const Error error = error_of([&] { adamw_->state(state); });
  EXPECT_EQ(error.code(), ErrorCode::kCheckpoint);
  EXPECT_NE(std::string(error.what()).find("step/net.head.bias"), std::string::npos) << error.what();
}

TEST_P(AdamwTest, ASkippedStepLeavesNoTrace) {
  steps(4);
  MemoryState before;
  adamw_->state(before);
  const at::Tensor params = groups_[0].flat_param.clone();
  groups_[0].flat_grad.fill_(std::numeric_limits<double>::infinity());
  adamw_->step({at::scalar_tensor(3.0F, at::TensorOptions(at::kFloat)), {}});
  MemoryState after;
  adamw_->state(after);
  EXPECT_TRUE(at::equal(groups_[0].flat_param, params));
  EXPECT_EQ(before.values(), after.values());
}

TEST_P(AdamwTest, DividesGradientsByTheirScale) {
  std::vector<ParamGroup> scaled = groups_of(GetParam());
  const auto other = make<Optimizer>("tenon_optimizers", "adamw", kParams);
  other->attach(scaled);
  for (int step = 0; step < 5; ++step) {
    fill_grads(groups_, random_);
    for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i].flat_grad.copy_(groups_[i].flat_grad * 1024);
    adamw_->step({});
    other->step({at::scalar_tensor(0.0F, at::TensorOptions(at::kFloat)),
                 at::scalar_tensor(1024.0F, at::TensorOptions(at::kFloat))});
  }
  EXPECT_TRUE(at::allclose(scaled[1].flat_param, groups_[1].flat_param, 1e-6, 1e-7));
}

INSTANTIATE_TEST_SUITE_P(Types, AdamwTest, ::testing::Values(at::kDouble, at::kFloat),
                         [](const auto& type) { return c10::toString(type.param); });

class AdamwInSixteenBits : public ::testing::TestWithParam<at::ScalarType> {};

TEST_P(AdamwInSixteenBits, TakesEachStepToWithinItsRounding) {
  const c10::NoGradGuard no_grad;
  at::Generator random = at::detail::createCPUGenerator(77);
  std::vector<ParamGroup> groups = groups_of(GetParam());
  set_hyper(groups[0], "lr", 0.1);  // large steps, so that a missing one shows
  const auto adamw = make<Optimizer>("tenon_optimizers", "adamw", kParams);
  adamw->attach(groups);
  std::vector<Reference> references(groups[0].params.begin(), groups[0].params.end());
  const double rounding = GetParam() == at::kHalf ? 0x1p-9 : 0x1p-6;
  for (int step = 0; step < 20; ++step) {
    fill_grads(groups, random);
    for (std::size_t i = 0; i < references.size(); ++i) references[i].step(groups[0].grads[i], 0.1, 0.1);
    adamw->step({at::scalar_tensor(0.0F, at::TensorOptions(at::kFloat)), {}});
    for (std::size_t i = 0; i < references.size(); ++i) {
      EXPECT_LT(distance(groups[0].params[i], references[i].p), rounding) << step;
      references[i].p = values_of(groups[0].params[i]);  // the next step starts from what was stored
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, AdamwInSixteenBits, ::testing::Values(at::kBFloat16, at::kHalf),
                         [](const auto& type) { return c10::toString(type.param); });

TEST(Adamw, ChecksItsParameters) {
  const auto made = [](const std::string& params) { (void)make<Optimizer>("tenon_optimizers", "adamw", params); };
  EXPECT_EQ(error_of([&] { made(R"({"lr": 0})"); }).pointer(), "/lr");
  EXPECT_EQ(error_of([&] { made(R"({"beta2": 1})"); }).pointer(), "/beta2");
  EXPECT_EQ(error_of([&] { made(R"({"eps": 0})"); }).pointer(), "/eps");
  EXPECT_EQ(error_of([&] { made(R"({"weight_decay": -1})"); }).pointer(), "/weight_decay");
}

}  // namespace
}  // namespace tenon::test
