// Fewer batches than there are, and the same ones again and again.
#include <cmath>
#include <string>
#include <vector>

#include <engine/evaluation.hpp>
#include <engine/pipeline_fixture.hpp>

#include <core/storage/checkpoint.hpp>

namespace tenon::engine {
namespace {

/// The optimizer keeps the gradients of its last step and moves nothing that float64 could show, so that equal batches
/// give equal gradients, and other batches others.
std::vector<std::string> watching(std::vector<std::string> more) {
  more.insert(more.end(),
              {R"(nodes.opt={"use":"optimizer:recording","of":"net","with":{"lr":1e-300}})",
               R"(+nodes.prec={"use":"precision:fp64"})", R"(+fit.precision="prec")", "nodes.net.with.dropout=0",
               R"(checkpoint.every="1 steps")", R"(checkpoint.keep={"last":100})"});
  return more;
}

class Limits : public PipelineTest {
 protected:
  static std::string gradients(const RunOutcome& outcome, int64_t step) {
    return bytes_below(outcome.directory / "checkpoints" / core::step_name(step)).at("optimizer.opt.safetensors");
  }

  void expect_resumes(const std::vector<std::string>& sets, int64_t steps) {
    const RunOutcome straight = run(kSmallPipeline, sets);
    ASSERT_EQ(straight.steps, steps);
    for (int64_t step = 1; step <= steps; step += 2) {
      runs_ = folder_ / std::to_string(step);
      RunRequest first = request(kSmallPipeline, sets);
      first.interrupt_at = step;
      EXPECT_EQ(run_session(first).steps, step);
      const RunOutcome second = run_session(resumed(kSmallPipeline, sets));
      EXPECT_EQ(second.steps_executed, steps - step);
      EXPECT_EQ(bytes_below(straight.last_checkpoint), bytes_below(second.last_checkpoint)) << step;
    }
  }
};

TEST_F(Limits, AnEpochEndsAfterSoManyBatchesAndTheNextHasOthers) {
  const RunOutcome full = run(kSmallPipeline, watching({}));
  ASSERT_EQ(full.steps, 34);
  const RunOutcome cut = run(kSmallPipeline, watching({"+fit.limit=5"}));
  EXPECT_EQ(cut.steps, 10);
  EXPECT_EQ(cut.epochs, 2);
  EXPECT_EQ(cut.samples_used, 10 * 64);
  for (int64_t batch = 1; batch <= 5; ++batch) {
    EXPECT_EQ(gradients(cut, batch), gradients(full, batch)) << batch;
    EXPECT_EQ(gradients(cut, 5 + batch), gradients(full, 17 + batch)) << "the first batches of the second epoch";
  }
}

TEST_F(Limits, MoreThanThereAreChangesNothing) {
  const RunOutcome full = run(kSmallPipeline);
  const RunOutcome wide = run(kSmallPipeline, {"+fit.limit=18", "+validate.limit=9"});
  EXPECT_EQ(checkpoint_bytes(full), checkpoint_bytes(wide));
  EXPECT_EQ(full.validation, wide.validation);
}

TEST_F(Limits, OverfitTakesTheFirstBatchesOfTheFirstEpochInEveryEpoch) {
  const RunOutcome cut = run(kSmallPipeline, watching({"+fit.limit=3", "fit.epochs=3"}));
  const RunOutcome same = run(kSmallPipeline, watching({"+fit.overfit=3", "fit.epochs=3"}));
  ASSERT_EQ(same.steps, 9);
  for (int64_t step = 1; step <= 9; ++step) {
    EXPECT_EQ(gradients(same, step), gradients(cut, (step - 1) % 3 + 1)) << step;
  }
  EXPECT_NE(gradients(cut, 4), gradients(cut, 1)) << "without it the epochs differ";
}

TEST_F(Limits, OverfitLearnsItsBatchesByHeart) {
  const RunOutcome outcome =
      run(kSmallPipeline, {"+fit.overfit=1", "fit.epochs=120", "nodes.net.with.dropout=0",
                           R"(validate.every="200 epochs")", R"(checkpoint.every="200 epochs")"});
  EXPECT_EQ(outcome.steps, 120);
  double loss = 1;
  std::ifstream log(outcome.directory / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const core::Json json = core::Json::parse(line);
    if (json["event"] == "step") loss = json["values"]["train.loss"].get<double>();
  }
  EXPECT_LT(loss, 0.05);
}

TEST_F(Limits, AValidationReadsItsFirstBatchesAlone) {
  const std::vector<std::string> sets{"nodes.val.with.batch=50", "+validate.limit=2"};
  const RunOutcome cut = run(kSmallPipeline, sets);
  // 100 samples: every value is a whole number of hundredths.
  const double value = 100 * cut.validation.at("validate.acc");
  EXPECT_NEAR(value, std::round(value), 1e-9);
  EXPECT_NE(cut.validation, run(kSmallPipeline).validation);
  const RunRequest again = request(kSmallPipeline, sets);
  EXPECT_EQ(evaluate_checkpoint({again.graph, again.resolved, again.catalogue, cut.checkpoint, "validate"}),
            cut.validation);
}

TEST_F(Limits, ACutEpochResumesAtAnyStep) { expect_resumes({"+fit.limit=5"}, 10); }

TEST_F(Limits, OverfittingResumesAtAnyStep) { expect_resumes({"+fit.overfit=3", "fit.epochs=3"}, 9); }

std::vector<std::string> warmed(const std::string& warmup, std::vector<std::string> more) {
  more.insert(more.begin(), {R"(+nodes.sched={"use":"schedule:cosine","of":"opt","with":{"warmup":")" + warmup + "\"}}",
                             R"(checkpoint.every="1 steps")"});
  return more;
}

/// Of the events that tell of a shortened schedule, and the learning rate that the log ends with.
std::pair<int, double> shortened(const RunOutcome& outcome) {
  std::pair<int, double> found;
  std::ifstream log(outcome.directory / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const core::Json json = core::Json::parse(line);
    if (line.find("shortened") != std::string::npos) ++found.first;
    if (json["event"] == "step") found.second = json["values"].value("train.lr.opt", found.second);
  }
  return found;
}

TEST_F(Limits, AScheduleThatDoesNotFitACutRunIsShortenedInProportion) {
  for (const std::string cut : {"+fit.limit=1", "+fit.overfit=1"}) {
    const RunOutcome outcome = run(kSmallPipeline, warmed("20 steps", {cut}));
    ASSERT_EQ(outcome.steps, 2);
    const auto [told, rate] = shortened(outcome);
    EXPECT_EQ(told, 1) << cut;
    EXPECT_DOUBLE_EQ(rate, 0.01 * 18 / 20) << "step 1 of 2 stands for step 17 of 34, in the warm-up";
  }
}

TEST_F(Limits, AScheduleThatFitsACutRunStaysAsItIs) {
  const auto [told, rate] = shortened(run(kSmallPipeline, warmed("4 steps", {"+fit.limit=2"})));
  EXPECT_EQ(told, 0);
  EXPECT_DOUBLE_EQ(rate, 0.01);
}

TEST_F(Limits, AScheduleThatDoesNotFitTheUncutRunEitherIsShortenedFurther) {
  const auto [told, rate] = shortened(run(kSmallPipeline, warmed("40 steps", {"+fit.limit=1"})));
  EXPECT_EQ(told, 1);
  EXPECT_DOUBLE_EQ(rate, 0.01 * 35 / 40) << "step 1 of 2 stands for step 34 of 68";
}

TEST_F(Limits, AScheduleThatFitsNoRunIsRefused) {
  const auto sets = warmed("20 steps", {"+fit.limit=1", R"(nodes.sched.with.until="10 steps")"});
  try {
    static_cast<void>(run(kSmallPipeline, sets));
    FAIL() << "it ran";
  } catch (const PlacedError& error) {
    EXPECT_NE(std::string(error.what()).find("\"10 steps\""), std::string::npos) << error.what();
  }
}

TEST_F(Limits, ALimitOfThePipelineItselfShortensNoSchedule) {
  std::string text = kSmallPipeline;
  const std::string key = R"("epochs": 2)";
  text.replace(text.find(key), key.size(), key + R"(, "limit": 1)");
  EXPECT_THROW(static_cast<void>(run(text, warmed("20 steps", {}))), PlacedError);
}

TEST_F(Limits, AShortenedScheduleResumesAtAnyStep) { expect_resumes(warmed("20 steps", {"+fit.limit=3"}), 6); }

TEST_F(Limits, WindowsOfMicroBatchesEndWithTheCutEpoch) {
  expect_resumes({"+fit.limit=5", "fit.accumulate=2", "fit.epochs=3"}, 9);
}

}  // namespace
}  // namespace tenon::engine
