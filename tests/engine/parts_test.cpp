// The engine's smaller parts, each against a plain reference.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <core/process/child.hpp>
#include <engine/autocast.hpp>
#include <engine/cadence.hpp>
#include <engine/models.hpp>
#include <engine/state_saver.hpp>
#include <engine/training.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/state.hpp>

namespace tenon::engine {
namespace {

TEST(Glob, MatchesWholeNames) {
  EXPECT_TRUE(glob_match("*.bias", "net.conv1.bias"));
  EXPECT_TRUE(glob_match("net.*", "net.conv1.bias"));
  EXPECT_TRUE(glob_match("net.conv?.b*s", "net.conv1.bias"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(glob_match("*.bias", "net.bias.weight"));
  EXPECT_FALSE(glob_match("net", "net.weight"));
  EXPECT_FALSE(glob_match("", "x"));
}

TEST(Cadence, StepsEpochsAndSamples) {
  const Due::Clock::time_point now = Due::Clock::now();
  Due steps({{parse_span("3 steps")}, {}});
  Due epochs({{parse_span("2 epochs")}, {}});
  Due samples({{parse_span("100 samples")}, {}});
  std::vector<int64_t> at_steps;
  std::vector<int64_t> at_epochs;
  std::vector<int64_t> at_samples;
  for (int64_t step = 1; step <= 12; ++step) {  // three steps an epoch of 40 samples each
    const Position position{step, step / 3, step * 40, step % 3 == 0};
    if (steps.at(position, now)) at_steps.push_back(step);
    if (epochs.at(position, now)) at_epochs.push_back(step);
    if (samples.at(position, now)) at_samples.push_back(step);
  }
  EXPECT_EQ(at_steps, (std::vector<int64_t>{3, 6, 9, 12}));
  EXPECT_EQ(at_epochs, (std::vector<int64_t>{6, 12}));
  EXPECT_EQ(at_samples, (std::vector<int64_t>{3, 5, 8, 10}));
}

TEST(Cadence, TimesBeginAnewWhenTheyWereDue) {
  Due due({{}, {parse_time("10 s")}});
  const Due::Clock::time_point begin = Due::Clock::now();
  EXPECT_FALSE(due.at({1, 0, 1, false}, begin + std::chrono::seconds(5)));
  EXPECT_TRUE(due.at({2, 0, 2, false}, begin + std::chrono::seconds(11)));
  EXPECT_FALSE(due.at({3, 0, 3, false}, begin + std::chrono::seconds(20)));
  EXPECT_TRUE(due.at({4, 0, 4, false}, begin + std::chrono::seconds(22)));
}

TEST(State, AllTypesComeBackBitByBit) {
  bool flag = true;
  int64_t count = -7;
  double rate = 0.1 + 0.2;
  double infinite = -std::numeric_limits<double>::infinity();
  std::string text = "x/\"y\"\n";
  at::Tensor tensor = at::arange(6, at::kDouble).reshape({2, 3});
  StateSaver saver;
  const auto visit = [&](StateIo& io) {
    io.io("flag", flag);
    io.io("count", count);
    io.io("rate", rate);
    io.io("infinite", infinite);
    io.io("text", text);
    nn::io(io, "group/tensor", tensor);
  };
  visit(saver);
  const std::filesystem::path file = std::filesystem::path(TENON_BUILD_DIR) / "tests" / "state.safetensors";
  core::write_safetensors(file, saver.arrays());
  const core::Safetensors arrays = core::Safetensors::read(file);
  const core::Json scalars = core::Json::parse(saver.scalars().dump());

  flag = false;
  count = 0;
  rate = 0;
  infinite = 0;
  text.clear();
  const at::Tensor expected = tensor.clone();
  tensor.zero_();
  StateRestorer restorer(scalars, &arrays);
  visit(restorer);
  EXPECT_TRUE(flag);
  EXPECT_EQ(count, -7);
  EXPECT_EQ(rate, 0.1 + 0.2);
  EXPECT_EQ(infinite, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(text, "x/\"y\"\n");
  EXPECT_TRUE(tensor.equal(expected));
}

TEST(State, WrongNamesTypesAndShapesAreRefused) {
  StateSaver saver;
  int64_t count = 1;
  saver.io("count", count);
  EXPECT_THROW(saver.io("count", count), Error);
  at::Tensor tensor = at::ones({2});
  nn::io(saver, "tensor", tensor);
  const std::filesystem::path file = std::filesystem::path(TENON_BUILD_DIR) / "tests" / "state.safetensors";
  core::write_safetensors(file, saver.arrays());
  const core::Safetensors arrays = core::Safetensors::read(file);
  StateRestorer restorer(saver.scalars(), &arrays);
  EXPECT_THROW(restorer.io("other", count), Error);
  bool flag = false;
  EXPECT_THROW(restorer.io("count", flag), Error);
  at::Tensor larger = at::ones({3});
  EXPECT_THROW(nn::io(restorer, "tensor", larger), Error);
  at::Tensor wider = at::ones({2}, at::kDouble);
  EXPECT_THROW(nn::io(restorer, "tensor", wider), Error);
}

TEST(Materialize, GivesAlignedViewsOfFlatBuffersAndValuesThatDependOnNamesAlone) {
  nn::Module root;
  nn::Linear first(&root, "first", 3, 5);
  nn::Linear second(&root, "second", 5, 2);
  const auto plan = [&] {
    PlannedGroup group;
    root.visit_params([&](const std::string& name, nn::Param& slot) {
      group.params.push_back({"net." + name, &slot});
    });
    return group;
  };
  const ParamGroup group = materialize(plan(), {{"lr", 0.1}}, 7, at::TensorOptions(at::kFloat));
  ASSERT_EQ(group.params.size(), 4U);
  for (std::size_t i = 0; i < group.params.size(); ++i) {
    EXPECT_EQ(group.params[i].storage_offset() % 16, 0);
    EXPECT_TRUE(group.params[i].is_leaf());
    EXPECT_TRUE(group.params[i].requires_grad());
    EXPECT_TRUE(group.view_like(group.flat_param, i).equal(group.params[i]));
    EXPECT_EQ(group.view_like(group.flat_param, i).data_ptr(), group.params[i].data_ptr());
  }
  EXPECT_EQ(group.hyper("lr").value, 0.1);
  EXPECT_THROW(static_cast<void>(group.hyper("momentum")), Error);

  // Gradients land in the flat buffer.
  at::linear(at::ones({1, 3}), group.params[0], group.params[1]).sum().backward();
  EXPECT_EQ(group.flat_grad.sum().item<double>(), 15 + 5);

  PlannedGroup reversed = plan();
  std::reverse(reversed.params.begin(), reversed.params.end());
  const at::Tensor weight = group.params[0].detach().clone();
  const ParamGroup again = materialize(reversed, {}, 7, at::TensorOptions(at::kFloat));
  EXPECT_TRUE(again.params.back().equal(weight));
}

TEST(LossLog, MeansAreWeightedBySamplesNotByBatches) {
  const std::vector<core::LossTerm> terms{{"kd", 0.7}, {"ce", 0.3}};
  LossLog log(terms, at::TensorOptions(at::kCPU));
  const auto scalar = [](double value) { return at::full({}, value, at::kDouble); };
  log.add(terms, {scalar(10), scalar(6)}, {scalar(4), scalar(2)}, scalar(1));
  log.add(terms, {scalar(2), scalar(0)}, {scalar(8), scalar(0)}, scalar(3));
  const auto values = log.take();
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ(values[0].first, "train.loss");
  EXPECT_DOUBLE_EQ(values[0].second, 0.7 * 12 / 12 + 0.3 * 6 / 2);
  EXPECT_EQ(values[1], (std::pair<std::string, double>{"train.loss.kd", 1}));
  EXPECT_EQ(values[2], (std::pair<std::string, double>{"train.loss.ce", 3}));
  EXPECT_EQ(values[3], (std::pair<std::string, double>{"train.grad_norm", 2}));
  log.add(terms, {scalar(1), scalar(1)}, {scalar(1), scalar(1)}, scalar(1));
  EXPECT_DOUBLE_EQ(log.take()[0].second, 1) << "taking begins anew";
}

TEST(Autocast, IsRestoredAlsoWhenSomethingThrows) {
  const auto type = [] { return at::mm(at::ones({2, 2}), at::ones({2, 2})).scalar_type(); };
  EXPECT_EQ(type(), at::kFloat);
  try {
    const AutocastGuard guard(c10::kCPU, at::kBFloat16);
    EXPECT_EQ(type(), at::kBFloat16);
    throw std::runtime_error("x");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(type(), at::kFloat);
  const AutocastGuard none(c10::kCPU, std::nullopt);
  EXPECT_EQ(type(), at::kFloat);
}

TEST(ChildProcess, GivesExitCodeSignalAndMessages) {
  const std::filesystem::path messages = std::filesystem::path(TENON_BUILD_DIR) / "tests" / "child.txt";
  const auto run = [&](const char* script, int seconds) {
    return core::run_child("/bin/sh", {"-c", script}, messages, std::chrono::seconds(seconds));
  };
  const core::ChildResult plain = run("echo why >&2; exit 3", 20);
  EXPECT_EQ(plain.exit_code, 3);
  EXPECT_EQ(plain.messages, "why\n");
  EXPECT_FALSE(std::filesystem::exists(messages));
  EXPECT_EQ(run("kill -9 $$", 20).exit_code, 128 + 9);
  EXPECT_TRUE(run("sleep 30", 1).timed_out);
  EXPECT_THROW(static_cast<void>(core::run_child("/nowhere/program", {}, messages, std::chrono::seconds(1))), Error);
}

}  // namespace
}  // namespace tenon::engine
