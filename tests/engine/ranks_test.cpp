// Micro-batches and ranks: however a batch is cut, its gradient, its metrics and its log are those of the whole.
#include <cmath>
#include <string>
#include <vector>

#include <engine/evaluation.hpp>
#include <engine/pipeline_fixture.hpp>
#include <engine/ranks.hpp>

namespace tenon::engine {
namespace {

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
