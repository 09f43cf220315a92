// Transforms that learn: from training data alone, once, and undone wherever people look.
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <engine/evaluation.hpp>
#include <engine/pipeline_fixture.hpp>
#include <engine/tables.hpp>

#include <core/storage/canonical_json.hpp>

namespace tenon::engine {
namespace {

/// A regression whose values are far from 0 and of other size in training and validation.
std::string pipeline() {
  return R"({
  "format": 1,
  "name": "fitted",
  "run": { "seed": 5, "device": "cpu", "threads": 1 },
  "nodes": {
    "train_set": )" +
         npy_dataset("train_x.npy", 3, "train_y.npy", 2) + R"(,
    "val_set": )" +
         npy_dataset("val_x.npy", 3, "val_y.npy", 2) + R"(,
    "scaled": { "use": "transform:standardize", "in": "train_set", "with": { "fields": ["x", "y"] } },
    "val_scaled": { "call": "scaled", "in": "val_set" },
    "train": { "use": "loader:threads", "in": "scaled", "with": { "batch": 8, "shuffle": true, "workers": 1 } },
    "val": { "use": "loader:threads", "in": "val_scaled", "with": { "batch": 7, "workers": 0 } },
    "net": { "use": "model:mlp", "in": { "x": "batch.x" }, "load": "net.safetensors",
             "with": { "input": "x", "output": "value", "size": 2, "hidden": [] } },
    "loss": { "use": "loss:mse", "in": { "prediction": "net.value", "target": "batch.y" } },
    "error": { "use": "metric:mean_error", "in": { "prediction": "net.value", "target": "batch.y" } },
    "opt": { "use": "optimizer:sgd", "of": "net", "with": { "lr": 0.05 } },
    "prec": { "use": "precision:fp64" }
  },
  "fit": { "data": "train", "precision": "prec", "loss": "loss", "epochs": 3 },
  "validate": { "data": "val", "metrics": ["error"] },
  "observe": []
})";
}

class Fitted : public PipelineTest {
 protected:
  void SetUp() override {
    PipelineTest::SetUp();
    runs_ = folder_ / "runs";
    write_npy(folder_ / "train_x.npy", train_x_);
    write_npy(folder_ / "train_y.npy", train_y_);
    write_npy(folder_ / "val_x.npy", val_x_);
    write_npy(folder_ / "val_y.npy", val_y_);
    net_.save(folder_ / "net.safetensors");
  }

  static at::Tensor deviation(const at::Tensor& values) { return values.std(0, /*unbiased=*/false); }

  /// As the transform gives it: rounded to float32 once.
  static at::Tensor scaled(const at::Tensor& values, const at::Tensor& training) {
    return ((values - training.mean(0)) / deviation(training)).to(at::kFloat).to(at::kDouble);
  }

  /// The mean error of a model in the units of the files.
  [[nodiscard]] double error_of(const Affine& net) const {
    const at::Tensor value = net(scaled(val_x_, train_x_)) * deviation(train_y_) + train_y_.mean(0);
    return (value - val_y_).abs().mean().item<double>();
  }

  at::Tensor train_x_ = numbers(30, 3, 0) * 40 + 100;
  at::Tensor train_y_ = numbers(30, 2, 9) * 512 - 2048;
  at::Tensor val_x_ = numbers(20, 3, 50) * 4 + 120;
  at::Tensor val_y_ = numbers(20, 2, 59) * 64 - 1024;
  Affine net_{numbers(2, 3, 20), numbers(1, 2, 21).reshape({2})};
};

TEST_F(Fitted, StatisticsAreThoseOfTheTrainingDataAndLieInTheCheckpoint) {
  const RunOutcome outcome = run(pipeline());
  const Tensors state = read_tensors(outcome.last_checkpoint / "state.scaled.safetensors");
  EXPECT_EQ(state.size(), 4U);
  for (const auto& [name, values] : {std::pair("x", train_x_), std::pair("y", train_y_)}) {
    const at::Tensor mean = state.at(std::string(name) + "/mean") - values.mean(0);
    const at::Tensor std = state.at(std::string(name) + "/std") - deviation(values);
    EXPECT_LT(mean.abs().max().item<double>(), 1e-9) << name;
    EXPECT_LT(std.abs().max().item<double>(), 1e-9) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(outcome.last_checkpoint / "state.val_scaled.safetensors"));
}

TEST_F(Fitted, LossesSeeScaledValuesAndMetricsThoseOfTheFiles) {
  const RunOutcome outcome = run(pipeline(), {"fit.epochs=1", "nodes.train.with.batch=30"});
  const at::Tensor difference = net_(scaled(train_x_, train_x_)) - scaled(train_y_, train_y_);
  std::ifstream log(outcome.directory / "log.jsonl");
  int steps = 0;
  for (std::string line; std::getline(log, line);) {
    const core::Json json = core::Json::parse(line);
    if (json["event"] != "step") continue;
    ++steps;
    EXPECT_NEAR(json["values"]["train.loss"].get<double>(), difference.square().mean().item<double>(), 1e-9);
  }
  EXPECT_EQ(steps, 1);
  const double expected = error_of(Affine::read(outcome.last_checkpoint / "model.net.safetensors"));
  EXPECT_GT(expected, 100) << "far from the scaled values";
  EXPECT_NEAR(outcome.validation.at("validate.error"), expected, 1e-3);  // targets went through float32
}

TEST_F(Fitted, OneBehindAnotherLearnsFromWhatThatGivesAndBothAreUndone) {
  const std::vector<std::string> sets{
      "+nodes.scaled.with.min_std=10000",  // takes only the mean off
      R"(+nodes.twice={"use":"transform:standardize","in":"scaled","with":{"fields":["x","y"]}})",
      R"(+nodes.val_twice={"call":"twice","in":"val_scaled"})",
      R"(nodes.train.in="twice")",
      R"(nodes.val.in="val_twice")",
      "fit.epochs=1"};
  const RunOutcome outcome = run(pipeline(), sets);
  const Tensors state = read_tensors(outcome.last_checkpoint / "state.twice.safetensors");
  for (const auto& [name, values] : {std::pair("x", train_x_), std::pair("y", train_y_)}) {
    EXPECT_LT(state.at(std::string(name) + "/mean").abs().max().item<double>(), 1e-3) << name;
    const at::Tensor std = state.at(std::string(name) + "/std") - deviation(values);
    EXPECT_LT(std.abs().max().item<double>(), 1e-3) << name;
  }
  EXPECT_NEAR(outcome.validation.at("validate.error"),
              error_of(Affine::read(outcome.last_checkpoint / "model.net.safetensors")), 1e-2);
}

TEST_F(Fitted, FixedMeansOfChannelsAreUndoneAlsoBehindACopy) {
  const std::vector<std::string> sets{
      R"(nodes.scaled={"use":"transform:to_float","in":"train_set","with":{"field":"y","max":1}})",
      R"(nodes.val_scaled={"call":"scaled","in":"val_set"})",
      R"(+nodes.small={"use":"transform:to_float","in":"scaled","with":{"field":"x","max":100}})",
      R"(+nodes.val_small={"call":"small","in":"val_scaled"})",
      R"(+nodes.fixed={"use":"transform:normalize","in":"small","with":{"field":"y","mean":[-2048,100],"std":[512,64]}})",
      R"(+nodes.val_fixed={"call":"fixed","in":"val_small"})",
      R"(+nodes.copied={"use":"transform:copy","in":"fixed","with":{"field":"y","into":"again"}})",
      R"(+nodes.val_copied={"call":"copied","in":"val_fixed"})",
      R"(nodes.train.in="copied")",
      R"(nodes.val.in="val_copied")",
      R"(nodes.error.in.target="batch.again")",
      "fit.epochs=1"};
  const RunOutcome outcome = run(pipeline(), sets);
  const Affine net = Affine::read(outcome.last_checkpoint / "model.net.safetensors");
  const at::Tensor mean = at::tensor({-2048.0, 100.0}, at::kDouble);
  const at::Tensor std = at::tensor({512.0, 64.0}, at::kDouble);
  const at::Tensor x = (val_x_ / 100).to(at::kFloat).to(at::kDouble);
  const double expected = (net(x) * std + mean - val_y_).abs().mean().item<double>();
  EXPECT_GT(expected, 50) << "far from the scaled values";
  EXPECT_NEAR(outcome.validation.at("validate.error"), expected, 1e-2);
}

TEST_F(Fitted, EvaluationTakesThemFromTheCheckpointAndNeedsNoTrainingData) {
  const RunOutcome outcome = run(pipeline());
  const RunRequest again = request(pipeline());
  std::filesystem::remove(folder_ / "train_x.npy");
  std::filesystem::remove(folder_ / "train_y.npy");
  EXPECT_EQ(evaluate_checkpoint({again.graph, again.resolved, again.catalogue, outcome.checkpoint, "validate"}),
            outcome.validation);
}

TEST_F(Fitted, AResumedRunGivesTheBytesOfTheStraightOne) {
  const RunOutcome straight = run(pipeline());
  for (const int64_t step : {1, 4, 9}) {
    runs_ = folder_ / std::to_string(step);
    RunRequest first = request(pipeline());
    first.interrupt_at = step;
    EXPECT_EQ(run_session(first).steps, step);
    EXPECT_EQ(bytes_below(straight.last_checkpoint), bytes_below(run_session(resumed(pipeline())).last_checkpoint));
  }
}

TEST_F(Fitted, AResumedRunKeepsWhatItLearnedAlsoWhereTheDataHasChanged) {
  RunRequest first = request(pipeline());
  first.interrupt_at = 2;
  const std::string before = bytes_below(run_session(first).last_checkpoint).at("state.scaled.safetensors");
  write_npy(folder_ / "train_x.npy", train_x_ * 2);
  RunRequest later = resumed(pipeline());
  later.accepted = {"data"};
  EXPECT_EQ(bytes_below(run_session(later).last_checkpoint).at("state.scaled.safetensors"), before);
}

TEST_F(Fitted, RanksLearnTheSame) {
  const RunOutcome alone = run(pipeline());
  const RunOutcome two = run(
      pipeline(), {R"(+nodes.ranks={"use":"distributed:threads","with":{"ranks":2}})", R"(run.distributed="ranks")"});
  for (const char* file : {"state.scaled.safetensors", "model.net.safetensors"}) {
    EXPECT_LT(file_difference(alone.last_checkpoint / file, two.last_checkpoint / file), 1e-12) << file;
  }
  EXPECT_NEAR(alone.validation.at("validate.error"), two.validation.at("validate.error"), 1e-9);
}

TEST_F(Fitted, AnInterruptionWhileLearningLeavesNoRun) {
  for (const bool preflight : {false, true}) {
    Interruption interruption;
    RunRequest wanted = request(kSmallPipeline, {R"(nodes.train_set={"use":"dataset:stalling","with":{"after":300}})",
                                                 R"(nodes.shift={"use":"transform:standardize","in":"train_set",)"
                                                 R"("with":{"fields":["image"]}})",
                                                 R"(nodes.train_x={"use":"transform:copy","in":"shift",)"
                                                 R"("with":{"field":"image","into":"second"}})"});
    wanted.interruption = &interruption;
    wanted.preflight = preflight;
    std::thread somebody([&] {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      interruption.request(SIGINT);
    });
    const auto begin = std::chrono::steady_clock::now();
    const RunOutcome outcome = run_session(wanted);
    somebody.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
    EXPECT_EQ(outcome.interrupted, SIGINT);
    EXPECT_TRUE(outcome.directory.empty());
    EXPECT_FALSE(std::filesystem::exists(runs_)) << "something was left";
  }
}

TEST_F(Fitted, DataThatDoesNotSufficeIsAnErrorAtTheTransform) {
  write_npy(folder_ / "train_x.npy", train_x_.narrow(0, 0, 1));
  write_npy(folder_ / "train_y.npy", train_y_.narrow(0, 0, 1));
  try {
    run(pipeline());
    FAIL() << "nothing was thrown";
  } catch (const PlacedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_EQ(error.diagnostic().pointer.find("/nodes/scaled"), 0U) << error.diagnostic().pointer;
    EXPECT_NE(std::string(error.what()).find("at least 2"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(runs_)) << "something was left";
}

}  // namespace
}  // namespace tenon::engine
