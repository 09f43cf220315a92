// Losses and their gradients against Python's torch.
#include <map>

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <plugins/support/golden.hpp>
#include <plugins/support/plugin.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/loss.hpp>

namespace tenon::test {
namespace {

using Json = nlohmann::json;

TEST(GoldenLosses, GiveTheMeanAndTheGradientOfTorch) {
  const Json all = golden("losses");
  const auto single = make<Distributed>("tenon_distributed", "single");
  StepContext context(single->join(), 0, true, 1, at::Generator());
  std::map<std::string, int64_t> cases;
  for (const Json& each : all.at("cases")) {
    const auto component = each.at("component").get<std::string>();
    const auto loss = make<Loss>("tenon_losses", component, each.at("params").dump());
    ++cases[component];
    Tensors in;
    Tensors batch;
    at::Tensor variable;
    for (const auto& [port, packed] : each.at("in").items()) {
      at::Tensor tensor = tensor_of(packed);
      if (port == each.at("of")) {
        variable = tensor.set_requires_grad(true);
      } else {
        batch.set(port, tensor);
      }
      in.set(port, tensor);
    }
    const at::Tensor weight = loss->weight(batch);
    const double divisor = weight.defined() ? weight.item<double>() : static_cast<double>(variable.size(0));
    const at::Tensor mean = loss->sum(in, context) / divisor;
    mean.backward();
    EXPECT_NEAR(divisor, each.at("weight").get<double>(), 1e-12) << each.at("name");
    EXPECT_NEAR(mean.item<double>(), each.at("mean").get<double>(), 1e-12) << each.at("name");
    EXPECT_TRUE(at::allclose(variable.grad(), tensor_of(each.at("gradient")), 1e-12, 1e-14)) << each.at("name");
  }
  EXPECT_GE(cases["cross_entropy"], 5);
  EXPECT_GE(cases["mse"], 5);
  EXPECT_GE(cases["bce"], 5);
  EXPECT_GE(cases["distillation"], 3);
  EXPECT_GE(cases["pixel_cross_entropy"], 2);
  EXPECT_GE(cases["dice"], 2);
}

}  // namespace
}  // namespace tenon::test
