// Layers in float64, and in bfloat16 under autocast, against what they do in float32 and against plain arithmetic.
#include <cmath>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <tenon/components/distributed.hpp>
#include <tenon/error.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv2d.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/linear.hpp>

namespace tenon::nn {
namespace {

/// Forward in bfloat16 while it lives, without kept casts, as an engine switches it.
class Autocast {
 public:
  Autocast() {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_cache_enabled(false);
  }
  ~Autocast() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::set_autocast_cache_enabled(true);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
};

/// Convolution, batch norm, ReLU, mean, linear layer.
class Net final : public Module {
 public:
  Net()
      : conv_(this, "conv", {.in = 2, .out = 4, .kernel = 3, .padding = 1}),
        norm_(this, "norm", 4),
        head_(this, "head", 4, 3) {}

 protected:
  Tensors forward(const Tensors& in, StepContext& context) override {
    const at::Tensor maps = at::relu(norm_(conv_(in.at("x"), context), context));
    return {{"y", head_(maps.mean({2, 3}), context)}};
  }

 private:
  Conv2d conv_;
  BatchNorm norm_;
  Linear head_;
};

class PrecisionOfLayers : public testing::Test {
 protected:
  /// The same numbers whatever the type, as those of a run are.
  static void fill(Module& root, at::ScalarType type) {
    uint64_t seed = 1;
    root.visit_params([&](const std::string& /*name*/, Param& slot) {
      at::Tensor value = at::empty(slot.shape(), at::kFloat);
      slot.initialize(value, at::detail::createCPUGenerator(seed++));
      slot.set(value.to(type).set_requires_grad(true));
    });
    root.visit_buffers([&](const std::string& /*name*/, Buffer& slot) {
      slot.set(at::full(slot.shape(), slot.fill(), at::isFloatingType(slot.dtype()) ? type : slot.dtype()));
    });
  }

  static at::Tensor images(at::ScalarType type) {
    at::Generator random = at::detail::createCPUGenerator(77);
    return at::randn({6, 2, 5, 5}, random, at::TensorOptions(at::kFloat)).to(type);
  }

  at::Tensor run(Module& root, const at::Tensor& x, bool training) {
    StepContext step(alone_, 0, training, 1, at::detail::createCPUGenerator());
    return root({{"x", x}}, step).at("y");
  }

  OneRank alone_;
};

TEST_F(PrecisionOfLayers, Float64RunsThroughEveryLayerInTrainingAndEvaluation) {
  Net wide;
  fill(wide, at::kDouble);
  Net narrow;
  fill(narrow, at::kFloat);
  for (const bool training : {true, false}) {
    const at::Tensor y = run(wide, images(at::kDouble), training);
    EXPECT_EQ(y.scalar_type(), at::kDouble);
    EXPECT_TRUE(at::allclose(y, run(narrow, images(at::kFloat), training).to(at::kDouble), 1e-5, 1e-6)) << training;
  }
  wide.visit_buffers([](const std::string& name, Buffer& slot) {
    const bool counts = name.ends_with("num_batches_tracked");
    EXPECT_EQ(slot.value().scalar_type(), counts ? at::kLong : at::kDouble) << name;
  });
}

TEST_F(PrecisionOfLayers, GradientsInFloat64AreTheDifferencesOfTheOutput) {
  Net net;
  fill(net, at::kDouble);
  const at::Tensor x = images(at::kDouble);
  const at::Tensor factors = at::arange(1, 19, at::kDouble).reshape({6, 3});
  const auto value = [&] { return run(net, x, true).mul(factors).sum(); };
  value().backward();
  constexpr double kStep = 1e-5;
  net.visit_params([&](const std::string& name, Param& slot) {
    const at::Tensor gradient = slot.value().grad().flatten();
    const at::Tensor numbers = slot.value().detach().flatten();
    for (int64_t i = 0; i < numbers.numel(); i += 5) {
      numbers[i].add_(kStep);
      const auto above = value().item<double>();
      numbers[i].sub_(2 * kStep);
      const auto below = value().item<double>();
      numbers[i].add_(kStep);
      ASSERT_NEAR(gradient[i].item<double>(), (above - below) / (2 * kStep), 1e-6) << name << " " << i;
    }
  });
}

TEST_F(PrecisionOfLayers, AutocastComputesInBfloat16AndTrainsInFloat32) {
  Net exact;
  fill(exact, at::kFloat);
  Net coarse;
  fill(coarse, at::kFloat);
  for (const bool training : {true, false}) {
    const at::Tensor expected = run(exact, images(at::kFloat), training);
    at::Tensor y;
    {
      const Autocast autocast;
      y = run(coarse, images(at::kFloat), training);
    }
    EXPECT_EQ(y.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(at::allclose(y.to(at::kFloat), expected, 0.05, 0.05)) << training;
    EXPECT_FALSE(at::equal(y.to(at::kFloat), expected)) << "it was computed in float32";
    expected.sum().backward();
    y.to(at::kFloat).sum().backward();
  }
  std::vector<at::Tensor> expected;
  exact.visit_params([&](const std::string& /*name*/, Param& slot) { expected.push_back(slot.value().grad()); });
  std::size_t next = 0;
  coarse.visit_params([&](const std::string& name, Param& slot) {
    const at::Tensor gradient = slot.value().grad();
    EXPECT_EQ(gradient.scalar_type(), at::kFloat) << name;
    const at::Tensor& wanted = expected[next++];
    EXPECT_LT((gradient - wanted).norm().item<double>(), 0.05 * wanted.norm().item<double>() + 0.05) << name;
  });
  coarse.visit_buffers(
      [](const std::string& name, Buffer& slot) { EXPECT_NE(slot.value().scalar_type(), at::kBFloat16) << name; });
}

TEST_F(PrecisionOfLayers, DropoutKeepsTheMeanInEveryType) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    Module root;
    Dropout dropout(&root, "dropout", 0.1);
    at::Generator random = at::detail::createCPUGenerator(5);
    const at::Tensor x = at::rand({200000}, random, at::TensorOptions(at::kDouble)).add(1).to(type);
    StepContext step(alone_, 0, true, 3, at::detail::createCPUGenerator());
    const at::Tensor y = dropout(x, step);
    EXPECT_EQ(y.scalar_type(), type);
    const at::Tensor kept = y.ne(0);
    EXPECT_NEAR(kept.to(at::kDouble).mean().item<double>(), 0.9, 0.005) << type;
    const at::Tensor ratio = y.masked_select(kept).to(at::kDouble) / x.masked_select(kept).to(at::kDouble);
    EXPECT_NEAR(ratio.mean().item<double>(), 1 / 0.9, 1e-4) << type;
  }
}

TEST_F(PrecisionOfLayers, ABufferTakesAnyFloatingTypeForAnotherAndNothingElse) {
  Module root;
  BatchNorm norm(&root, "norm", 2);
  Buffer& mean = *norm.buffers()[0];
  Buffer& count = *norm.buffers()[2];
  mean.set(at::zeros({2}, at::kDouble));
  EXPECT_EQ(mean.value().scalar_type(), at::kDouble);
  EXPECT_EQ(mean.dtype(), at::kFloat);
  EXPECT_THROW(mean.set(at::zeros({2}, at::kLong)), Error);
  EXPECT_THROW(mean.set(at::zeros({3}, at::kFloat)), Error);
  EXPECT_THROW(count.set(at::zeros({}, at::kFloat)), Error);
  EXPECT_THROW(count.set(at::zeros({}, at::kInt)), Error);
}

}  // namespace
}  // namespace tenon::nn
