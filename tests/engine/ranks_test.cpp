// Micro-batches and ranks: however a batch is cut, its gradient, its metrics and its log are those of the whole.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <engine/evaluation.hpp>
#include <engine/pipeline_fixture.hpp>
#include <engine/tables.hpp>
#include <engine/tensor_files.hpp>

#include <ATen/ATen.h>
#include <core/storage/canonical_json.hpp>

namespace tenon::engine {
namespace {

constexpr double kBound = 1e-12;

/// How a batch of 54 samples is cut: over ranks, and over micro-batches. 1,077 samples leave a last window of 51.
struct Cut {
  int64_t ranks;
  int64_t accumulate;
};

std::vector<std::string> on_ranks(int64_t ranks, std::vector<std::string> sets = {}) {
  if (ranks > 1) {
    sets.push_back(R"(+nodes.ranks={"use":"distributed:threads","with":{"ranks":)" + std::to_string(ranks) + "}}");
    sets.emplace_back(R"(run.distributed="ranks")");
  }
  return sets;
}

/// In float64 and without dropout; the class weights make the weights of micro-batches uneven, and clipping acts.
std::vector<std::string> settings(Cut cut) {
  return on_ranks(cut.ranks, {
                                 R"(+nodes.prec={"use":"precision:fp64"})",
                                 R"(+fit.precision="prec")",
                                 R"(nodes.net.with.dropout=0)",
                                 R"(nodes.opt={"use":"optimizer:recording","of":"net","with":{"lr":0.05}})",
                                 R"(nodes.loss.with={"class_weights":[1,2,3,4,5,6,7,8,9,0.5],"label_smoothing":0.1})",
                                 R"(+fit.clip={"norm":0.1})",
                                 R"(checkpoint.keep={"last":100})",
                                 R"(checkpoint.every="10 steps")",
                                 "nodes.train.with.batch=" + std::to_string(54 / cut.accumulate),
                                 "fit.accumulate=" + std::to_string(cut.accumulate),
                             });
}

/// Weighted regression, whose metrics are sums of fractions. 100 samples in batches of 24 leave a last one of 4.
constexpr const char* kRegression = R"({
  "format": 1,
  "name": "regression",
  "run": { "seed": 5, "device": "cpu", "threads": 1 },
  "nodes": {
    "train_set": { "use": "dataset:synthetic", "with": { "task": "regression", "size": 100, "weights": true } },
    "val_set": { "use": "dataset:synthetic", "with": { "task": "regression", "size": 77, "split": "val" } },
    "train": { "use": "loader:threads", "in": "train_set", "with": { "batch": 24, "shuffle": true, "workers": 1 } },
    "val": { "use": "loader:threads", "in": "val_set", "with": { "batch": 10, "workers": 0 } },
    "net": { "use": "model:mlp", "in": { "x": "batch.x" }, "with": { "input": "x", "classes": 1, "hidden": [8] } },
    "loss": { "use": "loss:mse", "in": { "prediction": "net.logits", "target": "batch.y", "weight": "batch.weight" } },
    "error": { "use": "metric:mean_error", "in": { "prediction": "net.logits", "target": "batch.y" } },
    "opt": { "use": "optimizer:recording", "of": "net", "with": { "lr": 0.05 } },
    "prec": { "use": "precision:fp64" }
  },
  "fit": { "data": "train", "loss": "loss", "precision": "prec", "epochs": 4 },
  "validate": { "data": "val", "metrics": ["error"], "every": "1 epoch" },
  "checkpoint": { "every": "1 epoch", "keep": { "last": 100 } },
  "observe": []
})";

/// The greatest difference of two safetensors files, none of whose tensors is 0.
double difference(const std::filesystem::path& a, const std::filesystem::path& b) {
  for (const auto& [name, tensor] : read_tensors(a)) EXPECT_GT(tensor.abs().max().item<double>(), 0) << name;
  return file_difference(a, b);
}

/// Every number of the log by step and key, wall-clock values left out.
std::map<std::string, double> logged(const RunOutcome& outcome) {
  std::map<std::string, double> values;
  std::ifstream log(outcome.directory / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const core::Json json = core::Json::parse(line);
    if (!json.contains("values")) continue;
    for (const auto& [key, value] : json["values"].items()) {
      const bool measured = key == "train.waiting" || key == "train.copy" || key == "train.compute";
      if (measured || key.starts_with("train.loader.")) continue;
      values[json["event"].get<std::string>() + " " + std::to_string(json["step"].get<int64_t>()) + " " + key] =
          core::number_of(value);
    }
  }
  return values;
}

class Ranks : public PipelineTest {};

TEST_F(Ranks, UnevenMicroBatchesOnOneTwoAndThreeRanksEqualOneLargeBatch) {
  const RunOutcome whole = run(kSmallPipeline, settings({1, 1}));
  ASSERT_EQ(whole.steps, 40);
  const auto log = logged(whole);
  double worst_gradient = 0;
  double worst_weight = 0;
  double worst_log = 0;
  for (const Cut cut : {Cut{1, 2}, Cut{1, 6}, Cut{2, 1}, Cut{2, 3}, Cut{3, 1}, Cut{3, 2}}) {
    const RunOutcome parts = run(kSmallPipeline, settings(cut));
    ASSERT_EQ(parts.steps, 40);
    for (const int64_t step : {10, 20, 30, 40}) {  // 20 and 40 end with the short window
      const auto name = std::filesystem::path("checkpoints") / core::step_name(step);
      const double gradient = difference(whole.directory / name / "optimizer.opt.safetensors",
                                         parts.directory / name / "optimizer.opt.safetensors");
      EXPECT_LT(gradient, kBound) << cut.ranks << " ranks, " << cut.accumulate << " micro-batches, step " << step;
      worst_gradient = std::max(worst_gradient, gradient);
      worst_weight = std::max(worst_weight, difference(whole.directory / name / "model.net.safetensors",
                                                       parts.directory / name / "model.net.safetensors"));
    }
    const auto other = logged(parts);
    ASSERT_EQ(log.size(), other.size());
    for (const auto& [key, value] : log) {
      ASSERT_TRUE(other.contains(key)) << key;
      worst_log = std::max(worst_log, std::abs(value - other.at(key)));
      EXPECT_NEAR(value, other.at(key), kBound) << key;
    }
    EXPECT_EQ(whole.validation, parts.validation);
  }
  EXPECT_LT(worst_weight, kBound);
  std::printf("figure: micro-batches and ranks, worst differences: gradients %.2g, weights %.2g, log %.2g\n",
              worst_gradient, worst_weight, worst_log);
}

TEST_F(Ranks, MetricsOfFractionsAndWeightedLossesDoNotDependOnTheCutEither) {
  const RunOutcome whole = run(kRegression);
  ASSERT_EQ(whole.steps, 20);
  double worst = 0;
  for (const Cut cut : {Cut{1, 3}, Cut{2, 1}, Cut{2, 4}, Cut{3, 2}}) {
    const RunOutcome parts =
        run(kRegression, on_ranks(cut.ranks, {"nodes.train.with.batch=" + std::to_string(24 / cut.accumulate),
                                              "fit.accumulate=" + std::to_string(cut.accumulate)}));
    for (const auto* file : {"optimizer.opt.safetensors", "model.net.safetensors"}) {
      const double most = difference(whole.last_checkpoint / file, parts.last_checkpoint / file);
      EXPECT_LT(most, kBound) << file;
      worst = std::max(worst, most);
    }
    const auto log = logged(whole);
    const auto other = logged(parts);
    ASSERT_EQ(log.size(), other.size());
    for (const auto& [key, value] : log) {
      EXPECT_NEAR(value, other.at(key), kBound) << key;
      worst = std::max(worst, std::abs(value - other.at(key)));
    }
  }
  std::printf("figure: weighted regression on ranks, worst difference: %.2g\n", worst);
}

TEST_F(Ranks, ACheckpointMeasuredAgainOnTheRanksGivesTheLastDigit) {
  for (const int64_t ranks : {1, 2, 3}) {
    const RunOutcome outcome = run(kRegression, on_ranks(ranks));
    const RunRequest again = request(kRegression, on_ranks(ranks));
    EXPECT_EQ(evaluate_checkpoint({again.graph, again.resolved, again.catalogue, outcome.checkpoint, "validate"}),
              outcome.validation)
        << ranks;
  }
}

TEST_F(Ranks, OneThatAsksToStopStopsAllAtTheSameStep) {
  const RunOutcome outcome =
      run(kSmallPipeline, on_ranks(3, {R"(stop=[{"use":"observer:stops_one_rank","with":{"step":7}}])"}));
  EXPECT_EQ(outcome.steps, 7);
  EXPECT_EQ(outcome.stopped, "one rank of three has had enough");
}

TEST_F(Ranks, OneThatFailsEndsAllWithItsError) {
  for (const int64_t ranks : {2, 3}) {
    try {
      run(kSmallPipeline, on_ranks(ranks, {R"(nodes.shift={"use":"transform:throwing","in":"train_set"})"}));
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData) << error.what();
      EXPECT_NE(std::string(error.what()).find("this sample is unreadable"), std::string::npos) << error.what();
    }
  }
}

TEST_F(Ranks, InterruptedAndResumedGiveTheBytesOfTheStraightRun) {
  const std::vector<std::string> sets = on_ranks(2, {"fit.accumulate=3", R"(validate.every="4 steps")"});
  const RunOutcome straight = run(kSmallPipeline, sets);
  for (const int64_t step : {int64_t{1}, int64_t{5}, straight.steps}) {
    runs_ = folder_ / std::to_string(step);
    RunRequest first = request(kSmallPipeline, sets);
    first.interrupt_at = step;
    const RunOutcome before = run_session(first);
    EXPECT_EQ(before.steps, step);
    const RunOutcome second = run_session(resumed(kSmallPipeline, sets));
    EXPECT_EQ(second.steps_executed, straight.steps - step);
    EXPECT_EQ(before.samples_used + second.samples_used, straight.samples_used);
    EXPECT_EQ(before.samples_used + second.samples_read, straight.samples_read);
    EXPECT_EQ(bytes_below(straight.last_checkpoint), bytes_below(second.last_checkpoint)) << step;
  }
}

TEST_F(Ranks, BatchNormValidatesAndSavesWithTheStatisticsOfTheFirst) {
  const std::vector<std::string> sets =
      on_ranks(2, {R"(nodes.net={"use":"model:cnn","in":{"image":"batch.image"},"with":{"classes":10,"width":8}})"});
  const RunOutcome first = run(kSmallPipeline, sets);
  const RunOutcome second = run(kSmallPipeline, sets);
  EXPECT_EQ(checkpoint_bytes(first), checkpoint_bytes(second));
  EXPECT_GT(first.validation.at("validate.acc"), 0.5);
}

TEST_F(Ranks, MoreRanksThanSamplesOfABatchStillFinish) {
  // With a batch of two, one of three ranks has no sample in any step.
  const RunOutcome outcome = run(kSmallPipeline, on_ranks(3, {"nodes.train.with.batch=2", "fit.epochs=1"}));
  EXPECT_EQ(outcome.steps, 539);
}

}  // namespace
}  // namespace tenon::engine
