// MyOptimizer: its formula, a rate of its own for each group, and state that goes on where it was saved.
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <tenon/components/optimizer.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/memory_state.hpp>
#include <tenon/harness/param_groups.hpp>

namespace {

using tenon::harness::make;
using tenon::harness::steps;

/// Two groups of parameters, the second with twice the rate.
std::vector<tenon::ParamGroup> groups() {
  return tenon::harness::two_groups(at::kDouble, {{"lr", 0.1}}, {{"lr", 0.2}});
}

TEST(MyOptimizer, FollowsItsFormulaInEachGroup) {
  std::vector<tenon::ParamGroup> trained = groups();
  const auto optimizer = make<tenon::Optimizer>("my_optimizer", R"({"momentum": 0.5})");
  optimizer->attach(trained);
  std::vector<at::Tensor> params;
  std::vector<at::Tensor> momenta;
  for (const tenon::ParamGroup& group : trained) {
    params.push_back(group.params[0].clone());
    momenta.push_back(at::zeros_like(group.params[0]));
  }
  for (int64_t step = 0; step < 5; ++step) {
    steps(*optimizer, trained, step, step + 1);
    for (std::size_t i = 0; i < trained.size(); ++i) {
      momenta[i] = momenta[i] * 0.5 + trained[i].grads[0];
      params[i] = params[i] - momenta[i] * (i == 0 ? 0.1 : 0.2);
      EXPECT_TRUE(at::allclose(trained[i].params[0], params[i], 1e-12, 1e-12)) << "group " << i << ", step " << step;
    }
  }
}

TEST(MyOptimizer, GoesOnFromItsStateAsIfItHadNeverStopped) {
  std::vector<tenon::ParamGroup> whole = groups();
  std::vector<tenon::ParamGroup> resumed = groups();
  const auto first = make<tenon::Optimizer>("my_optimizer");
  const auto second = make<tenon::Optimizer>("my_optimizer");
  first->attach(whole);
  second->attach(resumed);
  steps(*first, whole, 0, 3);
  tenon::harness::copy_values(whole, resumed);
  tenon::harness::restore(*second, tenon::harness::save(*first));
  steps(*first, whole, 3, 6);
  steps(*second, resumed, 3, 6);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_TRUE(at::equal(whole[i].flat_param, resumed[i].flat_param));
}

TEST(MyOptimizer, LeavesNoTraceWhereGradientsAreNotFinite) {
  std::vector<tenon::ParamGroup> skipping = groups();
  std::vector<tenon::ParamGroup> plain = groups();
  const auto first = make<tenon::Optimizer>("my_optimizer");
  const auto second = make<tenon::Optimizer>("my_optimizer");
  first->attach(skipping);
  second->attach(plain);
  steps(*first, skipping, 0, 1, 1, {at::ones({}), {}});
  steps(*first, skipping, 1, 3);
  steps(*second, plain, 1, 3);
  EXPECT_TRUE(at::equal(skipping[0].flat_param, plain[0].flat_param));
}

TEST(MyOptimizer, RefusesAMomentumThatNeverEnds) {
  EXPECT_TRUE(tenon::harness::refused([] { (void)make<tenon::Optimizer>("my_optimizer", R"({"momentum": 1})"); },
                                      tenon::ErrorCode::kConfig, "/momentum"));
}

}  // namespace
