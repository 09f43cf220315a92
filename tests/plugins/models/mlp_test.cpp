// model:mlp against the plain formula.
#include <gtest/gtest.h>

#include <c10/core/GradMode.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/model.hpp>
#include <tenon/harness/network.hpp>

namespace tenon::test {
namespace {

Made<Model> built(const std::string& params, const FieldSpec& input) {
  auto model = make<Model>("tenon_models", "mlp", params);
  model->build({input});
  return model;
}

TEST(Mlp, IsLinearReluLinearOverTheFlattenedInput) {
  const c10::NoGradGuard no_grad;
  const auto single = make<Distributed>("tenon_distributed", "single");
  const auto model = built(R"({"classes": 3, "hidden": [5, 4]})", {"image", Dtype::kFloat32, {"N", 2, 3}});
  materialize(model->root(), 9);
  const at::Tensor image = at::linspace(-1, 1, 4 * 6).view({4, 2, 3});
  std::map<std::string, at::Tensor> values;
  model->root().visit_params([&](const std::string& name, nn::Param& slot) { values[name] = slot.value(); });
  at::Tensor expected = image.reshape({4, 6});
  for (const std::string layer : {"hidden1.linear", "hidden2.linear"}) {
    expected = (at::matmul(expected, values.at(layer + ".weight").t()) + values.at(layer + ".bias")).clamp_min(0);
  }
  expected = at::matmul(expected, values.at("head.weight").t()) + values.at("head.bias");
  const at::Tensor logits = run(model->root(), single->join(), {{"image", image}}, true).at("logits");
  EXPECT_TRUE(at::allclose(logits, expected, 1e-5, 1e-6));
  EXPECT_EQ(values.size(), 6U);
}

TEST(Mlp, WithoutHiddenLayersIsOneLinearLayer) {
  const auto model = built(R"({"classes": 3, "hidden": []})", {"image", Dtype::kFloat32, {"N", 7}});
  EXPECT_EQ(param_names(model->root()), (std::vector<std::string>{"head.weight", "head.bias"}));
}

TEST(Mlp, TakesItsInputByTheNameGiven) {
  const auto single = make<Distributed>("tenon_distributed", "single");
  const auto model = built(R"({"classes": 2, "input": "features"})", {"features", Dtype::kFloat32, {"N", 7}});
  materialize(model->root(), 1);
  EXPECT_EQ(run(model->root(), single->join(), {{"features", at::ones({3, 7})}}, false).at("logits").sizes(),
            (at::IntArrayRef{3, 2}));
}

TEST(Mlp, GivesAnOutputThatStandsForNoClassesUnderItsOwnName) {
  const auto single = make<Distributed>("tenon_distributed", "single");
  const auto model = built(R"({"size": 2, "hidden": [3], "output": "value"})", {"image", Dtype::kFloat32, {"N", 7}});
  materialize(model->root(), 1);
  const Tensors out = run(model->root(), single->join(), {{"image", at::ones({3, 7})}}, false);
  EXPECT_EQ(out.size(), 1U);
  EXPECT_EQ(out.at("value").sizes(), (at::IntArrayRef{3, 2}));
  EXPECT_EQ(param_names(model->root()),
            (std::vector<std::string>{"hidden1.linear.weight", "hidden1.linear.bias", "head.weight", "head.bias"}));
}

TEST(Mlp, TakesTheSizeOfItsOutputFromOneParameter) {
  const auto pointer = [](const std::string& params) {
    return error_of([&] { (void)make<Model>("tenon_models", "mlp", params); }).pointer();
  };
  EXPECT_EQ(pointer(R"({"classes": 3, "size": 3})"), "/size");
  EXPECT_EQ(pointer("{}"), "/classes");
  EXPECT_EQ(pointer(R"({"classes": "none", "size": "classes"})"), "/classes");
  EXPECT_EQ(pointer(R"({"size": 0})"), "/size");
  EXPECT_EQ(pointer(R"({"classes": 0})"), "/classes");
}

TEST(Mlp, RefusesInputsAndParametersThatDoNotFit) {
  const Error open = error_of([] { (void)built(R"({"classes": 3})", {"image", Dtype::kFloat32, {"N", 2, "W"}}); });
  EXPECT_EQ(open.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(open.what()).find("float32[N, 2, W]"), std::string::npos) << open.what();
  const FieldSpec fits{"image", Dtype::kFloat32, {"N", 2}};
  EXPECT_EQ(error_of([&] { (void)built(R"({"classes": 3, "hidden": [4, 0]})", fits); }).pointer(), "/hidden/1");
  EXPECT_EQ(error_of([&] { (void)built(R"({"classes": 3, "dropout": -0.1})", fits); }).pointer(), "/dropout");
}

}  // namespace
}  // namespace tenon::test
