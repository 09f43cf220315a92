// Layers against plain references, and what all modules share.
#include <cmath>
#include <memory>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <tenon/components/distributed.hpp>
#include <tenon/error.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv2d.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/init.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/shape.hpp>

namespace tenon::nn {
namespace {

class Layers : public testing::Test {
 protected:
  StepContext context(bool training, uint64_t key = 1) {
    return StepContext(alone_, 0, training, key, at::detail::createCPUGenerator());
  }

  /// Gives every slot of a tree memory: parameters count up from 0.01, buffers hold their first value.
  static void fill(Module& root) {
    root.visit_params([](const std::string& /*name*/, Param& slot) {
      slot.set(at::arange(1, elements(slot.shape()) + 1, at::kFloat).div(100).reshape(slot.shape()));
    });
    root.visit_buffers([](const std::string& /*name*/, Buffer& slot) {
      slot.set(at::full(slot.shape(), slot.fill(), at::TensorOptions(slot.dtype())));
    });
  }

  OneRank alone_;
  Module root_;
};

TEST_F(Layers, LinearIsTheMatrixProductPlusBias) {
  Linear linear(&root_, "linear", 3, 2);
  fill(root_);
  const at::Tensor x = at::tensor({1.0F, 2.0F, 3.0F}).reshape({1, 3});
  StepContext step = context(true);
  const at::Tensor y = linear(x, step);
  EXPECT_NEAR(y[0][0].item<double>(), 0.01 * 1 + 0.02 * 2 + 0.03 * 3 + 0.01, 1e-6);
  EXPECT_NEAR(y[0][1].item<double>(), 0.04 * 1 + 0.05 * 2 + 0.06 * 3 + 0.02, 1e-6);
}

TEST_F(Layers, Conv2dIsTheSumOverTheWindow) {
  Conv2d conv(&root_, "conv", {.in = 2, .out = 3, .kernel = 3, .stride = 2, .padding = 1, .bias = true});
  fill(root_);
  const at::Tensor x = at::arange(2 * 2 * 5 * 5, at::kFloat).reshape({2, 2, 5, 5});
  StepContext step = context(true);
  const at::Tensor y = conv(x, step);
  ASSERT_EQ(y.sizes(), (std::vector<int64_t>{2, 3, 3, 3}));
  const at::Tensor weight = root_.children()[0]->params()[0]->value();
  const at::Tensor bias = root_.children()[0]->params()[1]->value();
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t o = 0; o < 3; ++o) {
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < 3; ++j) {
          double sum = bias[o].item<double>();
          for (int64_t c = 0; c < 2; ++c) {
            for (int64_t a = 0; a < 3; ++a) {
              for (int64_t b = 0; b < 3; ++b) {
                const int64_t row = 2 * i + a - 1;
                const int64_t column = 2 * j + b - 1;
                if (row < 0 || row >= 5 || column < 0 || column >= 5) continue;
                sum += weight[o][c][a][b].item<double>() * x[n][c][row][column].item<double>();
              }
            }
          }
          ASSERT_NEAR(y[n][o][i][j].item<double>(), sum, 1e-3);
        }
      }
    }
  }
}

TEST_F(Layers, BatchNormUsesTheBatchWhileTrainingAndRunningStatisticsElse) {
  BatchNorm norm(&root_, "norm", 2, {.eps = 1e-5, .momentum = 0.1});
  fill(root_);
  root_.visit_params([](const std::string& name, Param& slot) {
    slot.set(at::full({2}, name == "norm.weight" ? 2.0 : 0.5, at::kFloat));
  });
  const at::Tensor x = at::tensor({1.0F, 10.0F, 3.0F, 30.0F}).reshape({2, 2});
  StepContext training = context(true);
  const at::Tensor y = norm(x, training);
  // Channel 0: mean 2, biased variance 1; the running variance takes the unbiased one, 2.
  EXPECT_NEAR(y[0][0].item<double>(), -2.0 / std::sqrt(1 + 1e-5) + 0.5, 1e-5);
  EXPECT_NEAR(norm.buffers()[0]->value()[0].item<double>(), 0.1 * 2, 1e-6);
  EXPECT_NEAR(norm.buffers()[1]->value()[0].item<double>(), 0.9 + 0.1 * 2, 1e-6);
  EXPECT_EQ(norm.buffers()[2]->value().item<int64_t>(), 1);

  StepContext evaluating = context(false);
  const at::Tensor z = norm(x, evaluating);
  EXPECT_NEAR(z[0][0].item<double>(), (1 - 0.2) / std::sqrt(1.1 + 1e-5) * 2 + 0.5, 1e-5);
  EXPECT_EQ(norm.buffers()[2]->value().item<int64_t>(), 1);
}

TEST_F(Layers, AFrozenBatchNormStaysFrozenThroughTrainingAndValidation) {
  BatchNorm norm(&root_, "norm", 2);
  fill(root_);
  norm.train(false);
  const at::Tensor x = at::rand({8, 2}, at::kFloat);
  for (const bool training : {true, false, true}) {
    StepContext step = context(training);
    static_cast<void>(norm(x, step));
  }
  EXPECT_TRUE(norm.buffers()[0]->value().eq(0).all().item<bool>());
  EXPECT_EQ(norm.buffers()[2]->value().item<int64_t>(), 0);
}

TEST_F(Layers, DropoutKeepsTheMeanAndDependsOnItsKeyAlone) {
  Dropout dropout(&root_, "dropout", 0.25);
  const at::Tensor ones = at::ones({100, 100}, at::kFloat);
  StepContext first = context(true, 5);
  const at::Tensor a = dropout(ones, first);
  EXPECT_NEAR(a.mean().item<double>(), 1, 0.03);
  EXPECT_TRUE(a.eq(0).logical_or(at::isclose(a, at::full_like(a, 1 / 0.75))).all().item<bool>());
  EXPECT_FALSE(dropout(ones, first).equal(a)) << "a second draw in one pass has a key of its own";
  StepContext again = context(true, 5);
  EXPECT_TRUE(dropout(ones, again).equal(a));
  StepContext other = context(true, 6);
  EXPECT_FALSE(dropout(ones, other).equal(a));
  StepContext evaluating = context(false, 5);
  EXPECT_TRUE(dropout(ones, evaluating).equal(ones));
  EXPECT_THROW(Dropout(&root_, "certain", 1.0), Error);
}

TEST_F(Layers, AnotherModuleBesideItLeavesItsNumbersAlone) {
  Dropout dropout(&root_, "dropout", 0.5);
  const at::Tensor ones = at::ones({64}, at::kFloat);
  StepContext alone = context(true, 9);
  const at::Tensor before = dropout(ones, alone);
  Dropout earlier(&root_, "earlier", 0.5);
  StepContext both = context(true, 9);
  static_cast<void>(earlier(ones, both));
  EXPECT_TRUE(dropout(ones, both).equal(before));
}

TEST_F(Layers, NamesAreFullPathsInOrderOfRegistrationAndUnique) {
  Module block(&root_, "block");
  const Linear linear(&block, "linear", 2, 2);
  const BatchNorm norm(&root_, "norm", 2);
  std::vector<std::string> names;
  root_.visit_params([&](const std::string& name, Param& /*slot*/) { names.push_back(name); });
  EXPECT_EQ(names, (std::vector<std::string>{"block.linear.weight", "block.linear.bias", "norm.weight", "norm.bias"}));
  EXPECT_EQ(linear.path(), "block.linear");
  EXPECT_THROW(Linear(&block, "linear", 2, 2), Error);
}

TEST_F(Layers, ParametersTakeNoMemoryUntilTheyGetSome) {
  const Linear linear(&root_, "linear", 1000000, 1000000);
  EXPECT_TRUE(root_.children()[0]->params()[0]->value().is_meta());
  EXPECT_THROW(root_.children()[0]->params()[0]->set(at::ones({2, 2}, at::kFloat)), Error);
}

TEST_F(Layers, TheInnermostModuleOfAFailureIsKnown) {
  Module block(&root_, "block");
  Linear linear(&block, "linear", 3, 2);
  fill(root_);
  Module::clear_failure();
  StepContext step = context(true);
  EXPECT_THROW(static_cast<void>(linear(at::ones({1, 4}, at::kFloat), step)), c10::Error);
  EXPECT_EQ(Module::last_failure(), "block.linear");
  Module::clear_failure();
}

TEST(Init, StaysWithinItsBoundsAndFillsThem) {
  at::Generator random = at::detail::createCPUGenerator(3);
  at::Tensor value = at::empty({100, 300}, at::kFloat);
  kaiming_uniform(300, std::sqrt(2.0))(value, random);
  const double bound = std::sqrt(6.0 / 300);
  EXPECT_LE(value.abs().max().item<double>(), bound);
  EXPECT_GT(value.abs().max().item<double>(), bound * 0.99);
  EXPECT_NEAR(value.pow(2).mean().item<double>(), 2.0 / 300, 2.0 / 300 * 0.03);
}

TEST(Shape, TracedSizesStaySymbolic) {
  const auto split = [](const at::Tensor& x) { return reshape(x, {size_of(x, 0), 2, size_of(x, -1)}); };
  const auto [state, out] = torch::jit::tracer::trace(
      {at::zeros({4, 2, 3})},
      [&](torch::jit::Stack in) -> torch::jit::Stack {
        return {split(in.at(0).toTensor().reshape({-1, 2, 3}))};
      },
      [](const at::Tensor& /*tensor*/) { return std::string(); });
  torch::jit::GraphExecutor executor(state->graph, "split");
  for (const int64_t batch : {1, 4, 7, 33}) {
    torch::jit::Stack stack{at::ones({batch, 2, 3})};
    executor.run(stack);
    EXPECT_EQ(stack.at(0).toTensor().sizes(), (std::vector<int64_t>{batch, 2, 3}));
  }
}

TEST(Shape, ResizingDoublesAndCropsOddSides) {
  const at::Tensor maps = at::arange(6, at::TensorOptions(at::kFloat)).view({1, 1, 2, 3});
  const at::Tensor even = maps.repeat_interleave(2, 2).repeat_interleave(2, 3);
  EXPECT_TRUE(at::equal(resize_nearest(maps, 4, 6), even));
  EXPECT_TRUE(at::equal(resize_nearest(maps, 3, 5), even.narrow(2, 0, 3).narrow(3, 0, 5)));
  for (const int64_t side : {1, 2, 7, 101, 512, 1023}) {
    const at::Tensor half = at::arange((side + 1) / 2, at::TensorOptions(at::kFloat)).view({1, 1, 1, -1});
    EXPECT_TRUE(at::equal(resize_nearest(half, 1, side), half.repeat_interleave(2, 3).narrow(3, 0, side))) << side;
  }
}

TEST(Shape, TracedResizingFollowsTheOtherTensor) {
  const auto [state, out] = torch::jit::tracer::trace(
      {at::zeros({1, 1, 2, 2}), at::zeros({1, 1, 3, 4})},
      [&](torch::jit::Stack in) -> torch::jit::Stack {
        const at::Tensor other = in.at(1).toTensor();
        return {resize_nearest(in.at(0).toTensor(), size_of(other, 2), size_of(other, 3))};
      },
      [](const at::Tensor& /*tensor*/) { return std::string(); });
  torch::jit::GraphExecutor executor(state->graph, "resize");
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{3, 4}, {5, 9}, {16, 2}}) {
    torch::jit::Stack stack{at::ones({2, 3, 3, 4}), at::zeros({1, 1, height, width})};
    executor.run(stack);
    EXPECT_EQ(stack.at(0).toTensor().sizes(), (std::vector<int64_t>{2, 3, height, width}));
  }
}

}  // namespace
}  // namespace tenon::nn
