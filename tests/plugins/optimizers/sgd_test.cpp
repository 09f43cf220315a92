// optimizer:sgd against the formula written out in float64, and its state.
#include <cmath>
#include <limits>
#include <ostream>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <plugins/support/plugin.hpp>
#include <tenon/harness/memory_state.hpp>
#include <tenon/harness/param_groups.hpp>

namespace tenon::test {
namespace {

struct Variant {
  std::string name;
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;

  [[nodiscard]] std::string json() const {
    return R"({"momentum": )" + std::to_string(momentum) + R"(, "dampening": )" + std::to_string(dampening) +
           R"(, "nesterov": )" + (nesterov ? "true" : "false") + "}";
  }
  friend std::ostream& operator<<(std::ostream& out, const Variant& variant) { return out << variant.name; }
};

const Variant kPlain{"plain"};
const Variant kMomentum{"momentum", 0.9};
const Variant kDampening{"dampening", 0.8, 0.25};
const Variant kNesterov{"nesterov", 0.9, 0, true};

std::vector<ParamGroup> groups_of(at::ScalarType dtype, const Variant& variant) {
  return two_groups(dtype, {{"lr", 0.02}, {"momentum", variant.momentum}, {"weight_decay", 0.1}},
                    {{"lr", 0.005}, {"momentum", variant.momentum}, {"weight_decay", 0}});
}

/// The formula, element by element.
struct Reference {
  std::vector<double> p, b;
  bool started = false;

  explicit Reference(const at::Tensor& param) : p(values_of(param)), b(p.size()) {}

  void step(const at::Tensor& grad, const ParamGroup& group, const Variant& variant) {
    const double momentum = group.hyper("momentum").value;
    const std::vector<double> grads = values_of(grad);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double g = grads[i] + group.hyper("weight_decay").value * p[i];
      double change = g;
      if (momentum != 0) {
        b[i] = started ? momentum * b[i] + (1 - variant.dampening) * g : g;
        change = variant.nesterov ? g + momentum * b[i] : b[i];
      }
      p[i] -= group.hyper("lr").value * change;
    }
    if (momentum != 0) started = true;
  }
};

std::vector<Reference> references_of(const std::vector<ParamGroup>& groups) {
  std::vector<Reference> references;
  for (const ParamGroup& each : groups) {
    for (const at::Tensor& param : each.params) references.emplace_back(param);
  }
  return references;
}

void step(std::vector<Reference>& references, const std::vector<ParamGroup>& groups, const Variant& variant) {
  auto reference = references.begin();
  for (const ParamGroup& each : groups) {
    for (const at::Tensor& grad : each.grads) (reference++)->step(grad, each, variant);
  }
}

Update skipped() { return {at::scalar_tensor(3.0F, at::TensorOptions(at::kFloat)), {}}; }
Update applied() { return {at::scalar_tensor(0.0F, at::TensorOptions(at::kFloat)), {}}; }

class SgdTest : public ::testing::TestWithParam<std::tuple<at::ScalarType, Variant>> {
 protected:
  void SetUp() override { sgd_->attach(groups_); }

  [[nodiscard]] Made<Optimizer> made() const { return make<Optimizer>("tenon_optimizers", "sgd", variant_.json()); }

  void steps(int count, const Update& update = {}) {
    for (int i = 0; i < count; ++i) {
      fill_grads(groups_, random_);
      sgd_->step(update);
    }
  }

  const c10::NoGradGuard no_grad_;
  const at::ScalarType dtype_ = std::get<0>(GetParam());
  const Variant variant_ = std::get<1>(GetParam());
  at::Generator random_ = at::detail::createCPUGenerator(77);
  std::vector<ParamGroup> groups_ = groups_of(dtype_, variant_);
  Made<Optimizer> sgd_ = made();
};

TEST_P(SgdTest, FollowsTheFormulaOverTwoHundredSteps) {
  std::vector<Reference> references = references_of(groups_);
  for (int i = 0; i < 200; ++i) {
    set_hyper(groups_[0], "lr", 0.02 * (1 + std::cos(i / 40.0)));
    set_hyper(groups_[1], "momentum", variant_.momentum * (i / 20 % 3) / 2);  // none for 20 steps, half, whole
    fill_grads(groups_, random_);
    step(references, groups_, variant_);
    sgd_->step({});
  }
  const double tolerance = dtype_ == at::kDouble ? 1e-12 : 1e-5;
  auto reference = references.cbegin();
  for (const ParamGroup& each : groups_) {
    for (std::size_t i = 0; i < each.params.size(); ++i) {
      EXPECT_LT(distance(each.params[i], (reference++)->p), tolerance) << each.names[i];
    }
  }
}

TEST_P(SgdTest, KeepsTheGapsBetweenParametersZero) {
  steps(20);
  EXPECT_EQ(groups_[0].flat_param.narrow(0, 15, 49).abs().max().item<double>(), 0);
  EXPECT_EQ(groups_[0].flat_param.narrow(0, 71, 57).abs().max().item<double>(), 0);
}

TEST_P(SgdTest, GoesOnAfterARestartWithEqualBytes) {
  for (const int before : {0, 7}) {
    steps(before);
    MemoryState state;
    sgd_->state(state);
    std::vector<ParamGroup> copies = groups_of(dtype_, variant_);
    const auto restarted = made();
    restarted->attach(copies);
    state.restore();
    restarted->state(state);
    copy_values(groups_, copies);
    for (int i = 0; i < 5; ++i) {
      fill_grads(groups_, random_);
      for (std::size_t g = 0; g < copies.size(); ++g) copies[g].flat_grad.copy_(groups_[g].flat_grad);
      sgd_->step({});
      restarted->step({});
    }
    for (std::size_t g = 0; g < copies.size(); ++g) {
      EXPECT_TRUE(at::equal(copies[g].flat_param, groups_[g].flat_param)) << g << " after " << before;
    }
  }
}

TEST_P(SgdTest, ASkippedStepLeavesNoTrace) {
  std::vector<ParamGroup> others = groups_of(dtype_, variant_);
  const auto never_skipped = made();
  never_skipped->attach(others);
  for (const bool skips : {true, false, true, true, false, false, true}) {
    fill_grads(groups_, random_);
    if (skips) {
      groups_[1].flat_grad.fill_(std::numeric_limits<double>::infinity());
      sgd_->step(skipped());
      continue;
    }
    for (std::size_t g = 0; g < others.size(); ++g) others[g].flat_grad.copy_(groups_[g].flat_grad);
    sgd_->step(applied());
    never_skipped->step({});
  }
  MemoryState state;
  MemoryState expected;
  sgd_->state(state);
  never_skipped->state(expected);
  EXPECT_EQ(state.values(), expected.values());
  for (std::size_t g = 0; g < others.size(); ++g) {
    EXPECT_TRUE(at::equal(others[g].flat_param, groups_[g].flat_param)) << g;
  }
}

TEST_P(SgdTest, DividesGradientsByTheirScale) {
  std::vector<ParamGroup> scaled = groups_of(dtype_, variant_);
  const auto other = made();
  other->attach(scaled);
  for (int i = 0; i < 5; ++i) {
    fill_grads(groups_, random_);
    for (std::size_t g = 0; g < scaled.size(); ++g) scaled[g].flat_grad.copy_(groups_[g].flat_grad * 1024);
    sgd_->step({});
    other->step({applied().found_inf, at::scalar_tensor(1024.0F, at::TensorOptions(at::kFloat))});
  }
  EXPECT_TRUE(at::equal(scaled[0].flat_param, groups_[0].flat_param));
  EXPECT_TRUE(at::equal(scaled[1].flat_param, groups_[1].flat_param));
}

INSTANTIATE_TEST_SUITE_P(All, SgdTest,
                         ::testing::Combine(::testing::Values(at::kDouble, at::kFloat),
                                            ::testing::Values(kPlain, kMomentum, kDampening, kNesterov)),
                         [](const auto& each) {
                           return std::get<1>(each.param).name + c10::toString(std::get<0>(each.param));
                         });

class SgdInSixteenBits : public ::testing::TestWithParam<at::ScalarType> {};

TEST_P(SgdInSixteenBits, TakesEachStepToWithinItsRounding) {
  const c10::NoGradGuard no_grad;
  const double rounding = GetParam() == at::kHalf ? 0x1p-10 : 0x1p-7;
  for (const Variant& variant : {kPlain, kMomentum, kDampening, kNesterov}) {
    at::Generator random = at::detail::createCPUGenerator(77);
    std::vector<ParamGroup> groups = groups_of(GetParam(), variant);
    const auto sgd = make<Optimizer>("tenon_optimizers", "sgd", variant.json());
    sgd->attach(groups);
    std::vector<Reference> references = references_of(groups);
    for (int i = 0; i < 20; ++i) {
      fill_grads(groups, random);
      step(references, groups, variant);
      sgd->step(i % 5 == 1 ? applied() : Update{});
      auto reference = references.begin();
      for (const ParamGroup& each : groups) {
        for (const at::Tensor& param : each.params) {
          EXPECT_LT(distance(param, reference->p), rounding) << variant.name << " step " << i;
          (reference++)->p = values_of(param);  // the next step starts from what was stored
        }
      }
    }
  }
}

TEST_P(SgdInSixteenBits, LeavesNoTraceOfASkippedStep) {
  const c10::NoGradGuard no_grad;
  at::Generator random = at::detail::createCPUGenerator(77);
  std::vector<ParamGroup> groups = groups_of(GetParam(), kMomentum);
  const auto sgd = make<Optimizer>("tenon_optimizers", "sgd", kMomentum.json());
  sgd->attach(groups);
  fill_grads(groups, random);
  sgd->step(applied());
  MemoryState before;
  sgd->state(before);
  const at::Tensor params = groups[0].flat_param.clone();
  groups[0].flat_grad.fill_(std::numeric_limits<double>::quiet_NaN());
  sgd->step(skipped());
  MemoryState after;
  sgd->state(after);
  EXPECT_TRUE(at::equal(groups[0].flat_param, params));
  EXPECT_EQ(before.values(), after.values());
}

INSTANTIATE_TEST_SUITE_P(Types, SgdInSixteenBits, ::testing::Values(at::kBFloat16, at::kHalf),
                         [](const auto& type) { return c10::toString(type.param); });

TEST(Sgd, SavesTheBufferAndItsStartByParameterNameWhereThereIsMomentum) {
  const c10::NoGradGuard no_grad;
  std::vector<ParamGroup> groups = groups_of(at::kDouble, kDampening);
  set_hyper(groups[1], "momentum", 0);
  const auto sgd = make<Optimizer>("tenon_optimizers", "sgd", kDampening.json());
  sgd->attach(groups);
  const auto saved = [&] {
    MemoryState state;
    sgd->state(state);
    return state.values();
  };
  EXPECT_EQ(std::get<bool>(saved().at("started/net.head.bias")), false);
  sgd->step({});
  std::vector<std::string> names;
  for (const auto& [name, value] : saved()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"momentum_buffer/net.head.bias", "momentum_buffer/net.head.weight",
                                             "started/net.head.bias", "started/net.head.weight"}));
  EXPECT_EQ(std::get<bool>(saved().at("started/net.head.bias")), true);
  const auto buffer = std::get<MemoryState::Saved>(saved().at("momentum_buffer/net.head.weight"));
  EXPECT_EQ(buffer.shape, (Shape{3, 5}));
  EXPECT_EQ(buffer.dtype, Dtype::kFloat64);
}

TEST(Sgd, RefusesStartsThatDisagreeWithinAGroup) {
  const c10::NoGradGuard no_grad;
  std::vector<ParamGroup> groups = groups_of(at::kFloat, kMomentum);
  const auto sgd = make<Optimizer>("tenon_optimizers", "sgd", kMomentum.json());
  sgd->attach(groups);
  sgd->step({});
  MemoryState state;
  sgd->state(state);
  state.values().at("started/net.head.bias") = false;
  state.restore();
  const Error error = error_of([&] { sgd->state(state); });
  EXPECT_EQ(error.code(), ErrorCode::kCheckpoint);
  EXPECT_NE(std::string(error.what()).find("started/net.head.bias"), std::string::npos) << error.what();
}

TEST(Sgd, ChecksItsParameters) {
  const auto refused = [](const std::string& params) {
    const Error error = error_of([&] { (void)make<Optimizer>("tenon_optimizers", "sgd", params); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig) << params;
    return error.pointer();
  };
  EXPECT_EQ(refused(R"({"lr": 0})"), "/lr");
  EXPECT_EQ(refused(R"({"momentum": 1})"), "/momentum");
  EXPECT_EQ(refused(R"({"momentum": -0.1})"), "/momentum");
  EXPECT_EQ(refused(R"({"dampening": 1.1})"), "/dampening");
  EXPECT_EQ(refused(R"({"weight_decay": -1})"), "/weight_decay");
  EXPECT_EQ(refused(R"({"nesterov": true})"), "/nesterov");
  EXPECT_EQ(refused(R"({"nesterov": true, "momentum": 0.9, "dampening": 0.1})"), "/dampening");
}

TEST(Sgd, CanSkipOnTheDeviceAndHasNoOtherAbility) {
  const auto sgd = make<Optimizer>("tenon_optimizers", "sgd");
  EXPECT_NE(sgd->ability(Optimizer::kDeviceSkip), nullptr);
  EXPECT_EQ(sgd->ability("tenon.reevaluate/1"), nullptr);
}

}  // namespace
}  // namespace tenon::test
