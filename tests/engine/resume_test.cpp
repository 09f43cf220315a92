// A run that stops anywhere and goes on is the run that never stopped.
#include <array>
#include <chrono>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <engine/pipeline_fixture.hpp>

#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>

namespace tenon::engine {
namespace {

/// Augmentation, dropout, accumulation over uneven windows, a schedule, a controller: 24 micro-batches of 47 in steps of
/// 5, hence 5 steps an epoch and 15 in all.
const std::vector<std::string> kBusy{
    "nodes.train.with.batch=47",
    "fit.accumulate=5",
    "fit.epochs=3",
    R"(validate.every="2 steps")",
    R"(checkpoint.every="4 steps")",
    R"(+nodes.sched={"use":"schedule:cosine","of":"opt","with":{"warmup":"3 steps","until":"end"}})",
    R"(stop=[{"use":"observer:patience","with":{"metric":"acc","patience":50}}])"};

/// Values of the log that depend on time.
constexpr std::array<const char*, 5> kMeasured{"train.waiting", "train.copy", "train.compute", "train.loader.workers",
                                               "train.loader.samples_per_second"};

class Resume : public PipelineTest {
 protected:
  RunOutcome interrupted(std::vector<std::string> sets, int64_t step) {
    RunRequest wanted = request(kSmallPipeline, std::move(sets));
    wanted.interrupt_at = step;
    return run_session(wanted);
  }

  static std::map<std::string, std::string> last_checkpoint(const RunOutcome& outcome) {
    return bytes_below(outcome.last_checkpoint);
  }

  /// What the log says without what depends on time, place and interruption.
  static std::vector<std::string> told(const RunOutcome& outcome) {
    std::vector<std::string> lines;
    std::ifstream log(outcome.directory / "log.jsonl");
    for (std::string line; std::getline(log, line);) {
      core::Json json = core::Json::parse(line);
      const std::string event = json["event"];
      if (event == "run_start" || event == "timing" || event == "message" || event == "checkpoint") continue;
      json.erase("time");
      json.erase("text");
      if (json.contains("values")) {
        for (const char* const measured : kMeasured) json["values"].erase(measured);
      }
      lines.push_back(json.dump());
    }
    return lines;
  }
};

TEST_F(Resume, AtAnyStepGivesTheBytesAndTheLogOfTheStraightRunAndDoesNothingTwice) {
  const RunOutcome straight = run(kSmallPipeline, kBusy);
  ASSERT_EQ(straight.steps, 15);
  for (int64_t step = 1; step <= 15; ++step) {
    runs_ = folder_ / std::to_string(step);
    const RunOutcome first = interrupted(kBusy, step);
    EXPECT_EQ(first.interrupted, SIGTERM);
    EXPECT_EQ(first.steps, step);
    EXPECT_EQ(first.last_checkpoint.filename(), core::step_name(step));
    const RunOutcome second = run_session(resumed(kSmallPipeline, kBusy));
    EXPECT_EQ(second.interrupted, 0);
    EXPECT_EQ(second.directory, first.directory);
    EXPECT_EQ(second.first_step, step);
    EXPECT_EQ(second.steps, 15);
    EXPECT_EQ(second.steps_executed, 15 - step);
    EXPECT_EQ(first.samples_used + second.samples_used, 3 * 1077);
    EXPECT_EQ(last_checkpoint(straight), last_checkpoint(second)) << "interrupted at " << step;
    EXPECT_EQ(told(straight), told(second)) << "interrupted at " << step;
    EXPECT_EQ(straight.validation, second.validation);
    const int64_t batches = (step % 5 == 0 ? 0 : step % 5 * 5);
    const int64_t used = step / 5 * 1077 + std::min<int64_t>(batches * 47, 1077);
    EXPECT_EQ(second.samples_read, 3 * 1077 - used) << "interrupted at " << step;
    if (step < 15) {
      EXPECT_EQ(second.first_read, std::pair(step / 5, batches)) << "interrupted at " << step;
    }
  }
}

TEST_F(Resume, ManyTimesInOneRunIsStillTheStraightRun) {
  const RunOutcome straight = run(kSmallPipeline, kBusy);
  runs_ = folder_ / "stops";
  interrupted(kBusy, 2);
  for (int64_t step = 3; step <= 15; step += 2) {
    RunRequest wanted = resumed(kSmallPipeline, kBusy);
    wanted.interrupt_at = step;
    EXPECT_EQ(run_session(wanted).steps, step);
  }
  const RunOutcome last = run_session(resumed(kSmallPipeline, kBusy));
  EXPECT_EQ(last_checkpoint(straight), last_checkpoint(last));
  EXPECT_EQ(told(straight), told(last));
}

TEST_F(Resume, AValidationThatWasDueIsDoneFirst) {
  const RunOutcome first = interrupted(kBusy, 8);
  const core::Json state = core::read_json(first.last_checkpoint / "state.json");
  EXPECT_EQ(state["pending"], core::Json::array({"validate"}));
  const RunOutcome second = run_session(resumed(kSmallPipeline, kBusy));
  const core::Json index = core::read_json(second.directory / "checkpoints" / "index.json");
  bool measured = false;
  for (const core::Json& record : index["history"]) {
    if (record["step"] == 8) measured = record["metrics"].contains("validate.acc");
  }
  EXPECT_TRUE(measured) << index.dump(2);
}

TEST_F(Resume, PatienceStopsAtTheSameStepAcrossARestart) {
  const std::vector<std::string> hopeless{"nodes.opt.with.lr=1e-12", "fit.epochs=50", R"(validate.every="5 steps")",
                                          R"(checkpoint.every="7 steps")",
                                          R"(stop=[{"use":"observer:patience","with":{"metric":"acc","patience":4}}])"};
  const RunOutcome straight = run(kSmallPipeline, hopeless);
  ASSERT_FALSE(straight.stopped.empty());
  for (const int64_t step : {6, 10, 12}) {
    runs_ = folder_ / std::to_string(step);
    interrupted(hopeless, step);
    const RunOutcome second = run_session(resumed(kSmallPipeline, hopeless));
    EXPECT_EQ(second.steps, straight.steps) << step;
    EXPECT_EQ(second.stopped, straight.stopped) << step;
    EXPECT_EQ(last_checkpoint(straight), last_checkpoint(second)) << step;
  }
}

TEST_F(Resume, PlateauLowersTheRateAtTheSameStepsAcrossARestart) {
  const std::vector<std::string> flat{
      "nodes.opt.with.lr=1e-9", "fit.epochs=3", R"(validate.every="3 steps")", R"(checkpoint.every="4 steps")",
      R"(+nodes.sched={"use":"schedule:plateau","of":"opt","with":{"metric":"acc","patience":1,"factor":0.5}})"};
  const RunOutcome straight = run(kSmallPipeline, flat);
  std::set<std::string> rates;
  for (const std::string& line : told(straight)) {
    const core::Json json = core::Json::parse(line);
    if (json["event"] == "step") rates.insert(json["values"]["train.lr.opt"].dump());
  }
  EXPECT_GE(rates.size(), 4U) << "the rate was not lowered";
  for (const int64_t step : {5, 9, 18, 30}) {
    runs_ = folder_ / std::to_string(step);
    interrupted(flat, step);
    const RunOutcome second = run_session(resumed(kSmallPipeline, flat));
    EXPECT_EQ(told(straight), told(second)) << step;
    EXPECT_EQ(last_checkpoint(straight), last_checkpoint(second)) << step;
  }
}

TEST_F(Resume, WhatAnInterruptionWroteDoesNotCountAsBestNorKeepOthersFromBeingKept) {
  const std::vector<std::string> sets{"fit.epochs=3", R"(validate.every="3 steps")", R"(checkpoint.every="7 steps")",
                                      R"(checkpoint.keep={"last":2,"best":{"metric":"acc","count":1}})"};
  const RunOutcome straight = run(kSmallPipeline, sets);
  const auto kept = [](const RunOutcome& outcome) {
    std::vector<int64_t> steps;
    for (const auto& place : core::list_checkpoints(outcome.directory / "checkpoints")) steps.push_back(place.step);
    return steps;
  };
  for (const int64_t step : {12, 30, 48, 50}) {  // validated there, and not saved by the plan
    runs_ = folder_ / std::to_string(step);
    interrupted(sets, step);
    const RunOutcome second = run_session(resumed(kSmallPipeline, sets));
    EXPECT_EQ(kept(straight), kept(second)) << step;
    EXPECT_EQ(straight.checkpoint.filename(), second.checkpoint.filename()) << step;
    EXPECT_EQ(told(straight), told(second)) << step;
  }
}

TEST_F(Resume, AStopThatTheInterruptedValidationBringsIsTheStraightRunsLastCheckpoint) {
  const std::vector<std::string> hopeless{"nodes.opt.with.lr=1e-12", "fit.epochs=50", R"(validate.every="5 steps")",
                                          R"(checkpoint.every="100 steps")",
                                          R"(stop=[{"use":"observer:patience","with":{"metric":"acc","patience":2}}])"};
  const RunOutcome straight = run(kSmallPipeline, hopeless);
  ASSERT_EQ(straight.steps % 5, 0);
  ASSERT_LT(straight.steps, 100);
  runs_ = folder_ / "interrupted";
  interrupted(hopeless, straight.steps);
  const RunOutcome second = run_session(resumed(kSmallPipeline, hopeless));
  EXPECT_EQ(second.steps, straight.steps);
  EXPECT_EQ(last_checkpoint(straight), last_checkpoint(second));
}

/// Interrupted at step 30 of 51, with the best of three validated checkpoints at an earlier step than the last.
const std::vector<std::string> kWithBest{"fit.epochs=3", R"(validate.every="5 steps")", R"(checkpoint.every="5 steps")",
                                         R"(checkpoint.keep={"last":1,"best":{"metric":"acc","count":1}})",
                                         "nodes.opt.with.lr=0.05"};

TEST_F(Resume, ALostOrDamagedIndexIsMadeAnewWithWhatTheLogTells) {
  const RunOutcome straight = run(kSmallPipeline, kWithBest);
  const std::map<std::string, std::string> damages{
      {"missing", ""}, {"text", "x"}, {"empty", "{}"}, {"bare", R"({"format":1})"}};
  for (const auto& [name, content] : damages) {
    runs_ = folder_ / name;
    const RunOutcome first = interrupted(kWithBest, 47);
    const std::filesystem::path index = first.directory / "checkpoints" / "index.json";
    std::filesystem::remove(index);
    if (!content.empty()) std::ofstream(index) << content;
    const RunOutcome second = run_session(resumed(kSmallPipeline, kWithBest));
    EXPECT_EQ(second.checkpoint.filename(), straight.checkpoint.filename()) << name;
    EXPECT_EQ(second.validation, straight.validation) << name;
    EXPECT_NE(bytes_below(second.directory)["log.jsonl"].find("made anew"), std::string::npos) << name;
  }
}

TEST_F(Resume, ADamagedBestCheckpointIsSetAsideAndTold) {
  const RunOutcome first = interrupted(kWithBest, 47);
  const core::Json index = core::read_json(first.directory / "checkpoints" / "index.json");
  const int64_t best = index["best"];
  ASSERT_NE(best, 47);
  const std::filesystem::path folder = first.directory / "checkpoints" / core::step_name(best);
  std::ofstream(folder / "model.net.safetensors", std::ios::app) << "x";
  const RunOutcome second = run_session(resumed(kSmallPipeline, kWithBest));
  EXPECT_EQ(second.steps, 51);
  EXPECT_NE(second.checkpoint, folder);
  EXPECT_TRUE(std::filesystem::exists(folder.string() + ".damaged"));
  EXPECT_NE(bytes_below(second.directory)["log.jsonl"].find("it was the best"), std::string::npos);
}

TEST_F(Resume, ACheckpointUnderTheNameOfAnotherStepIsPassedOver) {
  const RunOutcome straight = run(kSmallPipeline, kWithBest);
  runs_ = folder_ / "renamed";
  const RunOutcome first = interrupted(kWithBest, 30);
  const std::filesystem::path folder = first.directory / "checkpoints";
  std::filesystem::copy(folder / core::step_name(30), folder / core::step_name(40));
  const RunOutcome second = run_session(resumed(kSmallPipeline, kWithBest));
  EXPECT_EQ(second.first_step, 30);
  EXPECT_EQ(last_checkpoint(straight), last_checkpoint(second));
}

TEST_F(Resume, ARunThatWasCopiedWithoutItsLockGoesOn) {
  const RunOutcome first = interrupted(kWithBest, 30);
  std::filesystem::remove(first.directory / ".lock");
  EXPECT_EQ(run_session(resumed(kSmallPipeline, kWithBest)).first_step, 30);
}

TEST_F(Resume, FewerEpochsThanWereMadeAreRefused) {
  interrupted({"fit.epochs=3"}, 20);
  RunRequest wanted = resumed(kSmallPipeline, {"fit.epochs=1"});
  wanted.accepted = {"schedule"};
  try {
    static_cast<void>(run_session(wanted));
    FAIL() << "nothing was thrown";
  } catch (const PlacedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.diagnostic().pointer, "/fit/epochs");
  }
}

TEST_F(Resume, AStopByValidationAloneIsToldOnceWhenTheEndIsInterrupted) {
  const std::vector<std::string> hopeless{"nodes.opt.with.lr=1e-12",
                                          "fit.epochs=50",
                                          R"(validate.every="5 steps")",
                                          R"(checkpoint.every="100 steps")",
                                          R"(checkpoint.keep={"last":1,"best":{"metric":"acc","count":1}})",
                                          R"(stop=[{"use":"observer:patience","with":{"metric":"acc","patience":2}}])"};
  const RunOutcome straight = run(kSmallPipeline, hopeless);
  const auto before = told(straight);
  RunRequest again = request(kSmallPipeline, hopeless);
  again.resume = std::make_shared<core::ResumePoint>(
      core::find_resume_point(runs_, "small", {core::ResumeMode::kPath, straight.directory}).value());
  const RunOutcome second = run_session(again);
  EXPECT_EQ(before, told(second));
}

TEST_F(Resume, ARunThatHadStoppedEarlyDoesNotTrainOn) {
  const std::vector<std::string> hopeless{"nodes.opt.with.lr=1e-12", "fit.epochs=50",
                                          R"(stop=[{"use":"observer:patience","with":{"metric":"acc","patience":3}}])"};
  const RunOutcome straight = run(kSmallPipeline, hopeless);
  RunRequest again = request(kSmallPipeline, hopeless);
  again.resume = std::make_shared<core::ResumePoint>(
      core::find_resume_point(runs_, "small", {core::ResumeMode::kPath, straight.directory}).value());
  const RunOutcome second = run_session(again);
  EXPECT_EQ(second.steps, straight.steps);
  EXPECT_EQ(second.samples_read, 0);
  EXPECT_EQ(second.stopped, straight.stopped);
}

TEST_F(Resume, ABranchLeavesTheOldRunAsItIsAndEndsWithTheSameBytes) {
  const RunOutcome straight = run(kSmallPipeline, kBusy);
  const auto before = bytes_below(straight.directory);
  RunRequest branch = request(kSmallPipeline, kBusy);
  branch.resume = std::make_shared<core::ResumePoint>(
      core::find_resume_point(runs_, "small",
                              {core::ResumeMode::kPath, straight.directory / "checkpoints" / core::step_name(12)})
          .value());
  const RunOutcome second = run_session(branch);
  EXPECT_NE(second.directory, straight.directory);
  EXPECT_EQ(second.first_step, 12);
  EXPECT_EQ(last_checkpoint(straight), last_checkpoint(second));
  EXPECT_EQ(told(straight), told(second));
  EXPECT_EQ(before, bytes_below(straight.directory));
}

TEST_F(Resume, LongerTrainingGoesOnBehindTheOldEnd) {
  const std::vector<std::string> four{"fit.epochs=4"};
  const RunOutcome straight = run(kSmallPipeline, four);
  runs_ = folder_ / "longer";
  const RunOutcome two = run(kSmallPipeline);
  RunRequest longer = request(kSmallPipeline, four);
  longer.resume = std::make_shared<core::ResumePoint>(
      core::find_resume_point(runs_, "small", {core::ResumeMode::kPath, two.directory}).value());
  const RunOutcome more = run_session(longer);
  EXPECT_EQ(more.first_step, two.steps);
  EXPECT_EQ(more.steps, straight.steps);
  EXPECT_EQ(last_checkpoint(straight), last_checkpoint(more));  // no schedule depends on the length
  EXPECT_TRUE(std::filesystem::exists(more.directory / "config.resolved.until-000034.json"));
}

TEST_F(Resume, AnotherBatchSizeGoesOnAtTheSameSampleWhenAccepted) {
  interrupted({"fit.epochs=3"}, 20);  // 17 steps of 64 an epoch: 192 samples into the second
  RunRequest wanted = resumed(kSmallPipeline, {"fit.epochs=3", "nodes.train.with.batch=32"});
  wanted.accepted = {"batch"};
  const RunOutcome second = run_session(wanted);
  EXPECT_EQ(second.first_read, std::pair(int64_t{1}, int64_t{6}));
  EXPECT_EQ(second.samples_read, 2 * 1077 - 192);
  EXPECT_EQ(second.epochs, 3);
}

TEST_F(Resume, OtherThreadsOrOtherDataAreRefusedByTheCheckpointsProvenance) {
  interrupted({}, 5);
  try {
    static_cast<void>(
        run_session(resumed(kSmallPipeline, {R"(nodes.train_set={"use":"dataset:digits","with":{"split":"test"}})"})));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_NE(std::string(error.what()).find("--accept data"), std::string::npos) << error.what();
  }
}

TEST_F(Resume, WaitingForDataEndsAtOnceAndSavesWhatIsThere) {
  Interruption interruption;
  RunRequest wanted = request(kSmallPipeline, {R"(nodes.train_set={"use":"dataset:stalling","with":{"after":200}})",
                                               R"(nodes.train.with.shuffle=false)", R"(nodes.train.with.workers=2)"});
  wanted.interruption = &interruption;
  std::thread somebody([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    interruption.request(SIGINT);
  });
  const auto begin = std::chrono::steady_clock::now();
  const RunOutcome outcome = run_session(wanted);
  somebody.join();
  EXPECT_EQ(outcome.interrupted, SIGINT);
  EXPECT_EQ(outcome.steps, 3) << "three batches of 64 lie before sample 200";
  EXPECT_EQ(outcome.last_checkpoint.filename(), core::step_name(3));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(Resume, InterruptedBeforeTheFirstStepLeavesNoRun) {
  Interruption interruption;
  interruption.request(SIGTERM);
  RunRequest wanted = request(kSmallPipeline);
  wanted.interruption = &interruption;
  const RunOutcome outcome = run_session(wanted);
  EXPECT_EQ(outcome.interrupted, SIGTERM);
  EXPECT_TRUE(outcome.directory.empty());
  EXPECT_TRUE(bytes_below(folder_).empty());
}

}  // namespace
}  // namespace tenon::engine
