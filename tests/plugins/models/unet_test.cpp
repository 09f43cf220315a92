// model:unet: names, sizes, gradients, and where a pixel's logits come from.
#include <map>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/model.hpp>
#include <tenon/harness/network.hpp>

namespace tenon::test {
namespace {

class UnetTest : public ::testing::Test {
 protected:
  nn::Module& build(const std::string& params, std::vector<Dim> image) {
    model_ = make<Model>("tenon_models", "unet", params);
    model_->build({{"image", Dtype::kFloat32, std::move(image)}});
    return model_->root();
  }
  at::Tensor logits(const at::Tensor& image, bool training = false) {
    return run(model_->root(), single_->join(), {{"image", image}}, training).at("logits");
  }
  static at::Tensor random(const std::vector<int64_t>& shape) {
    at::Generator generator = at::detail::createCPUGenerator(3);
    return at::randn(shape, generator, at::TensorOptions(at::kFloat));
  }

  Made<Distributed> single_ = make<Distributed>("tenon_distributed", "single");
  Made<Model> model_;
};

TEST_F(UnetTest, NamesItsParametersByLevel) {
  const std::vector<std::string> names =
      param_names(build(R"({"classes": 3, "width": 4, "depth": 2})", {"N", 3, "H", "W"}));
  EXPECT_EQ(names.size(), 5U * 6 + 2);
  EXPECT_EQ(names.front(), "down0.conv1.weight");
  EXPECT_EQ(names[18], "up1.conv1.weight");
  EXPECT_EQ(names.back(), "head.bias");
}

TEST_F(UnetTest, WidthsDoubleOnTheWayDownAndMeetTheSkipsOnTheWayUp) {
  std::map<std::string, std::vector<int64_t>> shapes;
  build(R"({"classes": 3, "width": 4, "depth": 2})", {"N", 5, "H", "W"})
      .visit_params([&](const std::string& name, nn::Param& slot) { shapes[name] = slot.shape(); });
  EXPECT_EQ(shapes["down0.conv1.weight"], (std::vector<int64_t>{4, 5, 3, 3}));
  EXPECT_EQ(shapes["down2.conv2.weight"], (std::vector<int64_t>{16, 16, 3, 3}));
  EXPECT_EQ(shapes["up1.conv1.weight"], (std::vector<int64_t>{8, 24, 3, 3}));
  EXPECT_EQ(shapes["up0.conv1.weight"], (std::vector<int64_t>{4, 12, 3, 3}));
  EXPECT_EQ(shapes["head.weight"], (std::vector<int64_t>{3, 4, 1, 1}));
}

TEST_F(UnetTest, GivesAPixelForEachPixelOfImagesOfEverySize) {
  const c10::NoGradGuard no_grad;
  materialize(build(R"({"classes": 3, "width": 2, "depth": 3})", {"N", 1, "H", "W"}), 1);
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{1, 1}, {1, 9}, {7, 8}, {16, 24}, {33, 15}}) {
    EXPECT_EQ(logits(random({2, 1, height, width})).sizes(), (at::IntArrayRef{2, 3, height, width})) << height;
  }
}

TEST_F(UnetTest, AnOddImageGivesWhatItGivesAsACornerOfAnEvenOne) {
  const c10::NoGradGuard no_grad;
  materialize(build(R"({"classes": 2, "width": 4, "depth": 1})", {"N", 1, "H", "W"}), 1);
  const at::Tensor even = random({1, 1, 40, 40});
  const at::Tensor odd = even.narrow(2, 0, 39).narrow(3, 0, 39);
  // Far from the border on which they differ: rows and columns keep their places at each level.
  EXPECT_TRUE(at::allclose(logits(odd).narrow(2, 0, 24).narrow(3, 0, 24),
                           logits(even).narrow(2, 0, 24).narrow(3, 0, 24), 1e-5, 1e-6));
}

TEST_F(UnetTest, EveryParameterTakesAGradient) {
  materialize(build(R"({"classes": 2, "width": 4, "depth": 2})", {"N", 3, "H", "W"}), 3);
  logits(random({2, 3, 9, 12}), true).square().sum().backward();
  model_->root().visit_params([](const std::string& name, nn::Param& slot) {
    ASSERT_TRUE(slot.value().grad().defined()) << name;
    EXPECT_GT(slot.value().grad().abs().sum().item<double>(), 0) << name;
  });
}

TEST_F(UnetTest, DeepLevelsSeeFurther) {
  const c10::NoGradGuard no_grad;
  const at::Tensor image = random({1, 1, 64, 64});
  at::Tensor changed = image.clone();
  changed[0][0][32][32] += 5;
  const auto reach = [&](int depth) {
    materialize(build(R"({"classes": 2, "width": 4, "depth": )" + std::to_string(depth) + "}", {"N", 1, "H", "W"}), 1);
    return logits(image).ne(logits(changed)).sum().item<int64_t>();
  };
  EXPECT_LT(reach(1), reach(3));
}

TEST_F(UnetTest, RefusesInputsAndParametersThatDoNotFit) {
  const Error channels = error_of([&] { build(R"({"classes": 2})", {"N", "C", 8, 8}); });
  EXPECT_EQ(channels.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(channels.what()).find("float32[N, C, 8, 8]"), std::string::npos) << channels.what();
  EXPECT_EQ(error_of([&] { build(R"({"classes": 2})", {"N", 64}); }).code(), ErrorCode::kConfig);
  EXPECT_EQ(error_of([&] { build(R"({"classes": 0})", {"N", 1, 8, 8}); }).pointer(), "/classes");
  EXPECT_EQ(error_of([&] { build(R"({"classes": 2, "depth": 0})", {"N", 1, 8, 8}); }).pointer(), "/depth");
}

}  // namespace
}  // namespace tenon::test
