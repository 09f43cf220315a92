// model:cnn: names, shapes, gradients, and what training and evaluation differ in.
#include <gtest/gtest.h>

#include <c10/core/GradMode.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/model.hpp>
#include <tenon/harness/network.hpp>

namespace tenon::test {
namespace {

class CnnTest : public ::testing::Test {
 protected:
  Model& build(const std::string& params, std::vector<Dim> image) {
    model_ = make<Model>("tenon_models", "cnn", params);
    model_->build({{"image", Dtype::kFloat32, std::move(image)}});
    return *model_;
  }
  at::Tensor logits(const at::Tensor& image, bool training, uint64_t key = 1) {
    return run(model_->root(), single_->join(), {{"image", image}}, training, key).at("logits");
  }

  Made<Distributed> single_ = make<Distributed>("tenon_distributed", "single");
  Made<Model> model_;
};

TEST_F(CnnTest, NamesItsParameters) {
  EXPECT_EQ(
      param_names(build(R"({"classes": 10})", {"N", 1, 8, 8}).root()),
      (std::vector<std::string>{"block1.conv.weight", "block1.norm.weight", "block1.norm.bias", "block2.conv.weight",
                                "block2.norm.weight", "block2.norm.bias", "block3.conv.weight", "block3.norm.weight",
                                "block3.norm.bias", "head.weight", "head.bias"}));
}

TEST_F(CnnTest, TakesImagesOfEverySize) {
  const std::vector<std::vector<int64_t>> sizes = {{1, 1}, {3, 5}, {4, 4}, {8, 8}, {7, 30}, {64, 48}};
  for (const auto& size : sizes) {
    materialize(build(R"({"classes": 7, "width": 4})", {"N", 3, size[0], size[1]}).root(), 1);
    EXPECT_EQ(logits(at::ones({5, 3, size[0], size[1]}), false).sizes(), (at::IntArrayRef{5, 7})) << size[0];
  }
  materialize(build(R"({"classes": 7, "width": 4})", {"N", 3, "H", "W"}).root(), 1);
  EXPECT_EQ(logits(at::ones({2, 3, 33, 20}), false).sizes(), (at::IntArrayRef{2, 7}));
}

TEST_F(CnnTest, EveryParameterTakesAGradient) {
  materialize(build(R"({"classes": 10, "width": 8})", {"N", 1, 8, 8}).root(), 3);
  const at::Tensor image = at::linspace(0, 1, 6 * 64).view({6, 1, 8, 8});
  logits(image, true).square().sum().backward();
  model_->root().visit_params([](const std::string& name, nn::Param& slot) {
    ASSERT_TRUE(slot.value().grad().defined()) << name;
    EXPECT_GT(slot.value().grad().abs().sum().item<double>(), 0) << name;
  });
}

TEST_F(CnnTest, DropsFeaturesByKeyWhileItTrainsAndNeverInEvaluation) {
  const c10::NoGradGuard no_grad;
  materialize(build(R"({"classes": 10, "width": 8, "dropout": 0.5})", {"N", 1, 8, 8}).root(), 3);
  const at::Tensor image = at::linspace(0, 1, 6 * 64).view({6, 1, 8, 8});
  EXPECT_TRUE(at::equal(logits(image, true, 1), logits(image, true, 1)));
  EXPECT_FALSE(at::equal(logits(image, true, 1), logits(image, true, 2)));
  EXPECT_TRUE(at::equal(logits(image, false, 1), logits(image, false, 2)));
}

TEST_F(CnnTest, EvaluationDoesNotMixSamples) {
  const c10::NoGradGuard no_grad;
  materialize(build(R"({"classes": 10, "width": 8})", {"N", 1, 8, 8}).root(), 3);
  const at::Tensor image = at::linspace(-1, 1, 6 * 64).view({6, 1, 8, 8});
  const at::Tensor together = logits(image, false);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(at::allclose(logits(image.narrow(0, i, 1), false), together.narrow(0, i, 1), 1e-5, 1e-6)) << i;
  }
}

TEST_F(CnnTest, RefusesInputsAndParametersThatDoNotFit) {
  const Error channels = error_of([&] { build(R"({"classes": 10})", {"N", "C", 8, 8}); });
  EXPECT_EQ(channels.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(channels.what()).find("float32[N, C, 8, 8]"), std::string::npos) << channels.what();
  EXPECT_EQ(error_of([&] { build(R"({"classes": 10})", {"N", 64}); }).code(), ErrorCode::kConfig);
  EXPECT_EQ(error_of([&] { build(R"({"classes": 1})", {"N", 1, 8, 8}); }).pointer(), "/classes");
  EXPECT_EQ(error_of([&] { build(R"({"classes": 2, "dropout": 1})", {"N", 1, 8, 8}); }).pointer(), "/dropout");
  const Error missing = error_of([&] { build("{}", {"N", 1, 8, 8}); });
  EXPECT_NE(std::string(missing.what()).find("classes"), std::string::npos) << missing.what();
}

}  // namespace
}  // namespace tenon::test
