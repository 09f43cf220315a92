// Optimizers against trajectories of Python's torch over 200 steps.
#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <plugins/support/golden.hpp>
#include <plugins/support/plugin.hpp>
#include <tenon/harness/param_groups.hpp>

namespace tenon::test {
namespace {

using Json = nlohmann::json;

/// The schedulable parameters with their configured values, as the engine takes them from the manifest.
Hypers hypers_of(const ComponentDescriptor& component, const Json& params) {
  const Json schema = Json::parse(component.describe()).at("parameters");
  Hypers hypers;
  for (const auto& name : schema.at("x-order").get<std::vector<std::string>>()) {
    const Json& property = schema.at("properties").at(name);
    if (property.value("x-schedulable", false)) {
      hypers.emplace_back(name, params.value(name, property.at("default").get<double>()));
    }
  }
  return hypers;
}

/// The largest distance from the golden trajectory at any of its points.
double distance_from(const Json& all, const Json& trajectory_case, at::ScalarType dtype) {
  const auto component = trajectory_case.at("component").get<std::string>();
  const Json& params = trajectory_case.at("params");
  std::vector<ParamGroup> groups;
  groups.push_back(
      param_group({{"net.weight", all.at("shapes").at("net.weight")}, {"net.bias", all.at("shapes").at("net.bias")}},
                  dtype, hypers_of(descriptor("tenon_optimizers", component), params)));
  ParamGroup& group = groups.front();
  const int64_t weights = group.params[0].numel();
  const auto fill = [&](std::vector<at::Tensor>& tensors, const Json& values) {
    const at::Tensor flat = tensor_of(values.get<std::vector<double>>());
    tensors[0].copy_(flat.narrow(0, 0, weights).view_as(tensors[0]));
    tensors[1].copy_(flat.narrow(0, weights, flat.numel() - weights));
  };
  fill(group.params, all.at("start"));
  const auto optimizer = make<Optimizer>("tenon_optimizers", component, params.dump());
  optimizer->attach(groups);
  double largest = 0;
  for (std::size_t step = 0; step < all.at("gradients").size(); ++step) {
    if (trajectory_case.at("changing_rate").get<bool>()) set_hyper(group, "lr", all.at("rates").at(step));
    fill(group.grads, all.at("gradients").at(step));
    optimizer->step({});
    if ((step + 1) % all.at("every").get<std::size_t>() != 0) continue;
    const Json& point = trajectory_case.at("trajectory").at((step + 1) / all.at("every").get<std::size_t>() - 1);
    largest = std::max(
        largest, distance(at::cat({group.params[0].flatten(), group.params[1]}), point.get<std::vector<double>>()));
  }
  return largest;
}

class GoldenOptimizers : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenOptimizers, FollowTorchOverTwoHundredSteps) {
  const c10::NoGradGuard no_grad;
  const Json all = golden("optimizers");
  ASSERT_EQ(all.at("gradients").size(), 200);
  int64_t cases = 0;
  for (const Json& each : all.at("cases")) {
    if (each.at("component") != GetParam()) continue;
    ++cases;
    EXPECT_LT(distance_from(all, each, at::kDouble), 1e-12) << each.at("name");
    EXPECT_LT(distance_from(all, each, at::kFloat), 2e-5) << each.at("name");
  }
  EXPECT_GE(cases, 4);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenOptimizers, ::testing::Values("sgd", "adamw"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace tenon::test
