// MyLoss: known values, the gradient that differences show, and a sum that samples add up to.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

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

}  // namespace
