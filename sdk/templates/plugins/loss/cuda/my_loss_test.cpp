// MyLoss: known values, the gradient that differences show, and the same from the GPU as from the CPU.
#include <dlfcn.h>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <my_loss_huber.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gradients.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/losses.hpp>

namespace {

using tenon::Tensors;
using tenon::harness::check_gradients;
using tenon::harness::make;
using tenon::harness::refused;
using tenon::harness::sum_of;
using tenon::harness::to_string;
using tenon::harness::weight_of;

/// Opens libtorch's half for GPUs before the first tensor: libtorch looks for it once.
class Gpu final : public testing::Environment {
 public:
  void SetUp() override {
    if (!my_loss_plugin::has_gpu()) return;
    if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) problem = dlerror();
    usable = problem.empty();
  }

  inline static bool usable = false;
  inline static std::string problem;
};
const auto* const kGpu = testing::AddGlobalTestEnvironment(new Gpu);

Tensors errors_of(std::vector<double> errors) {
  const at::Tensor prediction = at::tensor(errors).unsqueeze(1);
  return {{"prediction", prediction}, {"target", at::zeros_like(prediction)}};
}

TEST(MyLoss, IsQuadraticUpToDeltaAndLinearBeyond) {
  const auto loss = make<tenon::Loss>("my_loss", R"({"delta": 2})");
  EXPECT_DOUBLE_EQ(sum_of(*loss, errors_of({1})).item<double>(), 0.5);
  EXPECT_DOUBLE_EQ(sum_of(*loss, errors_of({-2})).item<double>(), 2);
  EXPECT_DOUBLE_EQ(sum_of(*loss, errors_of({-5})).item<double>(), 8);  // 2·(5 − 1)
}

TEST(MyLoss, AddsSamplesUpAndWeighsThemByTheirNumber) {
  const auto loss = make<tenon::Loss>("my_loss");
  EXPECT_DOUBLE_EQ(sum_of(*loss, errors_of({0.5, 3})).item<double>(), 0.125 + 2.5);
  EXPECT_DOUBLE_EQ(weight_of(*loss, errors_of({0.5, 3}), 2), 2);
  const at::Tensor wide = at::ones({2, 4}, at::kDouble);  // the mean over a sample's elements
  EXPECT_DOUBLE_EQ(sum_of(*loss, {{"prediction", wide}, {"target", wide.mul(2)}}).item<double>(), 1);
}

TEST(MyLoss, HasTheGradientThatDifferencesShow) {
  const auto loss = make<tenon::Loss>("my_loss");
  for (const auto& fault : check_gradients(*loss, errors_of({0.3, -0.7, 1.5, -4}))) ADD_FAILURE() << to_string(fault);
}

TEST(MyLoss, RefusesOtherShapesAndADeltaOfZero) {
  const auto loss = make<tenon::Loss>("my_loss");
  const Tensors unlike{{"prediction", at::zeros({2, 1})}, {"target", at::zeros({2, 3})}};
  EXPECT_TRUE(refused([&] { (void)sum_of(*loss, unlike); }, tenon::ErrorCode::kConfig, "", "differ in shape"));
  EXPECT_TRUE(
      refused([] { (void)make<tenon::Loss>("my_loss", R"({"delta": 0})"); }, tenon::ErrorCode::kConfig, "/delta"));
}

TEST(MyLoss, GivesTheSameSumAndGradientOnAGpuAsOnTheCpu) {
  ASSERT_EQ(Gpu::problem, "");
  if (!Gpu::usable) GTEST_SKIP() << "no GPU that this process may use: only the CPU's half is tested";
  const auto loss = make<tenon::Loss>("my_loss", R"({"delta": 0.7})");
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf}) {
    const at::Tensor prediction = at::linspace(-3, 3, 3000, at::kDouble).to(type).view({1000, 3});
    const at::Tensor target = at::linspace(1, -1, 3000, at::kDouble).to(type).view({1000, 3});
    std::vector<at::Tensor> sums;
    std::vector<at::Tensor> gradients;
    for (const at::Device device : {at::Device(at::kCPU), at::Device(at::kCUDA, 0)}) {
      const at::Tensor by = prediction.to(device).requires_grad_(true);
      const at::Tensor sum = sum_of(*loss, {{"prediction", by}, {"target", target.to(device)}});
      sum.backward();
      sums.push_back(sum.detach().cpu());
      gradients.push_back(by.grad().cpu());
    }
    EXPECT_TRUE(at::allclose(sums[0], sums[1], 1e-5)) << sums[0] << sums[1];
    EXPECT_TRUE(at::allclose(gradients[0], gradients[1], 1e-5)) << type;
  }
}

}  // namespace
