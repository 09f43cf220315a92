// Steps of several phases, against descent by hand; resumed, repeated, on data of their own, on ranks.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <engine/pipeline_fixture.hpp>
#include <engine/tables.hpp>

#include <core/storage/checkpoint.hpp>

namespace tenon::engine {
namespace {

constexpr double kBound = 1e-12;

/// "guess" learns y, and is pulled towards "judge"; then "judge" follows "guess" twice. 10 rows in batches of 4.
std::string pipeline() {
  return R"({
  "format": 1,
  "name": "phases",
  "run": { "seed": 5, "device": "cpu", "threads": 1 },
  "nodes": {
    "rows": )" +
         npy_dataset("x.npy", 3, "y.npy", 1) + R"(,
    "train": { "use": "loader:threads", "in": "rows", "with": { "batch": 4, "workers": 0 } },
    "guess": { "use": "model:mlp", "in": { "x": "batch.x" }, "load": "guess.safetensors",
               "with": { "input": "x", "output": "value", "size": 1, "hidden": [] } },
    "judge": { "use": "model:mlp", "in": { "x": "batch.x" }, "load": "judge.safetensors",
               "with": { "input": "x", "output": "value", "size": 1, "hidden": [] } },
    "right": { "use": "loss:mse", "in": { "prediction": "guess.value", "target": "batch.y" } },
    "near": { "use": "loss:mse", "in": { "prediction": "guess.value", "target": "judge.value" } },
    "follow": { "use": "loss:mse", "in": { "prediction": "judge.value", "target": "guess.value" } },
    "opt_guess": { "use": "optimizer:sgd", "of": "guess", "with": { "lr": 0.1, "momentum": 0.5 } },
    "opt_judge": { "use": "optimizer:sgd", "of": "judge", "with": { "lr": 0.2 } },
    "prec": { "use": "precision:fp64" }
  },
  "fit": {
    "data": "train", "precision": "prec", "epochs": 4,
    "phases": [
      { "name": "learn", "loss": { "right": 1, "near": 0.5 }, "optimizers": ["opt_guess"] },
      { "name": "follow", "loss": "follow", "optimizers": ["opt_judge"], "repeat": 2 }
    ]
  },
  "checkpoint": { "every": "1 steps", "keep": { "last": 100 } },
  "observe": []
})";
}

/// The same with the second phase on data of its own.
std::string with_own_data() {
  std::string text = pipeline();
  const std::string phase = R"("repeat": 2)";
  text.replace(text.find(phase), phase.size(), R"("repeat": 2, "data": "few")");
  const std::string nodes = R"("train": {)";
  return text.replace(text.find(nodes), nodes.size(), R"("few": { "use": "loader:threads", "in": "rows",
             "with": { "batch": 3, "workers": 2 } },
    "train": {)");
}

std::vector<std::string> shuffled(const std::string& text) {
  std::vector<std::string> sets{"nodes.train.with.shuffle=true"};
  if (text == with_own_data()) sets.emplace_back("nodes.few.with.shuffle=true");
  return sets;
}

class Phases : public PipelineTest {
 protected:
  void SetUp() override {
    PipelineTest::SetUp();
    write_npy(folder_ / "x.npy", x_);
    write_npy(folder_ / "y.npy", y_);
    guess_.save(folder_ / "guess.safetensors");
    judge_.save(folder_ / "judge.safetensors");
  }

  /// One step by hand: rows of the step's window, and of the windows of the second phase.
  void step(std::pair<int64_t, int64_t> rows, const std::vector<std::pair<int64_t, int64_t>>& own) {
    const auto cut = [](const at::Tensor& all, std::pair<int64_t, int64_t> part) {
      return all.narrow(0, part.first, part.second);
    };
    {
      const at::Tensor x = cut(x_, rows);
      const at::Tensor value = guess_(x);
      const at::Tensor slope = 2.0 * (value - cut(y_, rows)) + 0.5 * 2.0 * (value - judge_(x));
      weight_speed_ = 0.5 * weight_speed_ + slope.t().matmul(x) / rows.second;
      bias_speed_ = 0.5 * bias_speed_ + slope.mean(0);
      guess_ = {guess_.weight - 0.1 * weight_speed_, guess_.bias - 0.1 * bias_speed_};
    }
    for (const auto& part : own) {
      const at::Tensor x = cut(x_, part);
      const at::Tensor slope = 2.0 * (judge_(x) - guess_(x));
      judge_ = {judge_.weight - 0.2 * slope.t().matmul(x) / part.second, judge_.bias - 0.2 * slope.mean(0)};
    }
  }

  void expect_weights(const std::filesystem::path& checkpoint) const {
    for (const auto& [name, expected] : {std::pair("guess", guess_), std::pair("judge", judge_)}) {
      const Affine found = Affine::read(checkpoint / (std::string("model.") + name + ".safetensors"));
      EXPECT_LT((found.weight - expected.weight).abs().max().item<double>(), kBound) << name << " " << checkpoint;
      EXPECT_LT((found.bias - expected.bias).abs().max().item<double>(), kBound) << name << " " << checkpoint;
    }
  }

  at::Tensor x_ = numbers(10, 3, 0);
  at::Tensor y_ = numbers(10, 1, 9);
  Affine guess_{numbers(1, 3, 20), numbers(1, 1, 21).reshape({1})};
  Affine judge_{numbers(1, 3, 30), numbers(1, 1, 31).reshape({1})};
  at::Tensor weight_speed_ = at::zeros({1, 3}, at::kDouble);
  at::Tensor bias_speed_ = at::zeros({1}, at::kDouble);
};

TEST_F(Phases, GiveTheWeightsOfDescentByHandAfterEveryStep) {
  const RunOutcome outcome = run(pipeline());
  ASSERT_EQ(outcome.steps, 12);
  for (int64_t at = 0; at < 12; ++at) {
    const int64_t first = at % 3 * 4;
    const std::pair rows(first, std::min<int64_t>(4, 10 - first));
    step(rows, {rows, rows});
    expect_weights(outcome.directory / "checkpoints" / core::step_name(at + 1));
  }
}

TEST_F(Phases, WithDataOfTheirOwnReadTheirWindowsInOrderAndBeginAnewAtTheEnd) {
  const RunOutcome outcome = run(with_own_data());
  ASSERT_EQ(outcome.steps, 12);
  for (int64_t at = 0; at < 12; ++at) {
    std::vector<std::pair<int64_t, int64_t>> own;
    for (const int64_t window : {2 * at % 4, (2 * at + 1) % 4}) {
      own.emplace_back(3 * window, std::min<int64_t>(3, 10 - 3 * window));
    }
    const int64_t first = at % 3 * 4;
    step({first, std::min<int64_t>(4, 10 - first)}, own);
    expect_weights(outcome.directory / "checkpoints" / core::step_name(at + 1));
  }
}

TEST_F(Phases, OneOverEverythingIsThePipelineWithoutPhases) {
  const std::vector<std::string> plain{"nodes.net.with.dropout=0"};
  std::vector<std::string> phased = plain;
  phased.emplace_back(
      R"(fit={"data":"train","epochs":2,"phases":[{"name":"all","loss":"loss","optimizers":["opt"]}]})");
  const auto files = [](const RunOutcome& outcome) {
    auto all = bytes_below(outcome.last_checkpoint);
    return std::pair(all.at("model.net.safetensors"), all.at("optimizer.opt.safetensors"));
  };
  EXPECT_EQ(files(run(kSmallPipeline, plain)), files(run(kSmallPipeline, phased)));
}

TEST_F(Phases, MicroBatchesGiveTheSameWeights) {
  const RunOutcome whole = run(pipeline());
  const RunOutcome parts = run(pipeline(), {"nodes.train.with.batch=2", "+fit.accumulate=2"});
  ASSERT_EQ(parts.steps, 12);
  for (const char* file : {"model.guess.safetensors", "model.judge.safetensors"}) {
    EXPECT_LT(file_difference(whole.last_checkpoint / file, parts.last_checkpoint / file), kBound) << file;
  }
}

TEST_F(Phases, OnRanksGiveTheSameWeights) {
  double worst = 0;
  for (const std::string& text : {pipeline(), with_own_data()}) {
    const RunOutcome alone = run(text, shuffled(text));
    for (const char* ranks : {"2", "3"}) {
      std::vector<std::string> sets = shuffled(text);
      sets.push_back(R"(+nodes.ranks={"use":"distributed:threads","with":{"ranks":)" + std::string(ranks) + "}}");
      sets.emplace_back(R"(run.distributed="ranks")");
      const RunOutcome several = run(text, sets);
      for (const char* file : {"model.guess.safetensors", "model.judge.safetensors"}) {
        worst = std::max(worst, file_difference(alone.last_checkpoint / file, several.last_checkpoint / file));
      }
    }
  }
  EXPECT_LT(worst, kBound);
  std::printf("figure: phases on ranks, worst difference of weights: %.2g\n", worst);
}

TEST_F(Phases, ResumedAtAnyStepGiveTheBytesOfTheStraightRun) {
  const std::string text = with_own_data();
  const RunOutcome straight = run(text, shuffled(text));
  EXPECT_NE(checkpoint_bytes(straight), checkpoint_bytes(run(text))) << "the order must matter";
  for (const int64_t step : {1, 2, 3, 5, 8, 12}) {
    runs_ = folder_ / std::to_string(step);
    RunRequest first = request(text, shuffled(text));
    first.interrupt_at = step;
    EXPECT_EQ(run_session(first).steps, step);
    const RunOutcome second = run_session(resumed(text, shuffled(text)));
    EXPECT_EQ(second.steps_executed, 12 - step);
    EXPECT_EQ(bytes_below(straight.last_checkpoint), bytes_below(second.last_checkpoint)) << step;
  }
}

TEST_F(Phases, TheLogHoldsEachLossAndTheSumOfAll) {
  const RunOutcome outcome = run(pipeline(), {"nodes.train.with.batch=10", "fit.epochs=1"});
  const auto squares = [](const at::Tensor& difference) { return difference.square().mean().item<double>(); };
  std::map<std::string, double> expected;
  expected["train.loss.right"] = squares(guess_(x_) - y_);
  expected["train.loss.near"] = squares(guess_(x_) - judge_(x_));
  step({0, 10}, {{0, 10}});
  const double first = squares(guess_(x_) - Affine{numbers(1, 3, 30), numbers(1, 1, 31).reshape({1})}(x_));
  expected["train.loss.follow"] = (first + squares(judge_(x_) - guess_(x_))) / 2;  // the mean over both repetitions
  expected["train.loss"] =
      expected["train.loss.right"] + 0.5 * expected["train.loss.near"] + expected["train.loss.follow"];
  std::ifstream log(outcome.directory / "log.jsonl");
  int lines = 0;
  for (std::string line; std::getline(log, line);) {
    const core::Json json = core::Json::parse(line);
    if (json["event"] != "step") continue;
    ++lines;
    for (const auto& [key, value] : expected) EXPECT_NEAR(json["values"].at(key).get<double>(), value, kBound) << key;
  }
  EXPECT_EQ(lines, 1);
}

}  // namespace
}  // namespace tenon::engine
