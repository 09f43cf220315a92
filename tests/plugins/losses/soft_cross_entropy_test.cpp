// loss:soft_cross_entropy against cross_entropy and the formula.
#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/harness/losses.hpp>

namespace tenon::test {
namespace {

at::Tensor drawn(const std::vector<int64_t>& shape) {
  at::Generator random = at::detail::createCPUGenerator(5);
  return at::randn(shape, random, at::TensorOptions(at::kDouble));
}

TEST(SoftCrossEntropy, of_one_class_a_sample_is_cross_entropy) {
  const at::Tensor logits = drawn({7, 4});
  const at::Tensor classes = at::arange(7).remainder(4);
  const at::Tensor shares = at::zeros({7, 4}, at::kDouble).scatter(1, classes.unsqueeze(1), 1);
  for (const char* const params : {"{}", R"({"label_smoothing":0.3})"}) {
    const auto hard = make<Loss>("tenon_losses", "cross_entropy", params);
    const auto soft = make<Loss>("tenon_losses", "soft_cross_entropy", params);
    const double expected = harness::sum_of(*hard, {{"logits", logits}, {"target", classes}}).item<double>();
    EXPECT_NEAR(harness::sum_of(*soft, {{"logits", logits}, {"target", shares}}).item<double>(), expected, 1e-12);
    EXPECT_EQ(soft->weight({{"target", shares}}).item<double>(), 7);
  }
}

TEST(SoftCrossEntropy, is_linear_in_the_shares) {
  const auto loss = make<Loss>("tenon_losses", "soft_cross_entropy");
  const at::Tensor logits = drawn({5, 3});
  const at::Tensor shares = at::softmax(drawn({5, 3}).flip(0), 1);
  const double expected = -(shares * at::log_softmax(logits, 1)).sum().item<double>();
  EXPECT_NEAR(harness::sum_of(*loss, {{"logits", logits}, {"target", shares}}).item<double>(), expected, 1e-12);
}

TEST(SoftCrossEntropy, refuses_another_number_of_classes) {
  const auto loss = make<Loss>("tenon_losses", "soft_cross_entropy");
  try {
    (void)harness::sum_of(*loss, {{"logits", drawn({5, 3})}, {"target", drawn({5, 4})}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the target has 4 classes, but logits have 3");
  }
}

}  // namespace
}  // namespace tenon::test
