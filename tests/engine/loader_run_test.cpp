// The loader in a run: what it takes changes no byte, the log tells where the time went, and a sample that does not come
// back ends the run.
#include <chrono>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <engine/pipeline_fixture.hpp>

namespace tenon::engine {
namespace {

class LoaderRun : public PipelineTest {
 protected:
  /// The lines of the log of one kind.
  static std::vector<core::Json> events(const RunOutcome& outcome, const std::string& kind) {
    std::vector<core::Json> found;
    std::istringstream lines(bytes_below(outcome.directory)["log.jsonl"]);
    for (std::string line; std::getline(lines, line);) {
      core::Json event = core::Json::parse(line);
      if (event["event"] == kind) found.push_back(std::move(event));
    }
    return found;
  }

  /// The training data as a thousand images that take so long from one of them on.
  static std::vector<std::string> stalling(int after, int milliseconds, std::vector<std::string> sets) {
    sets.push_back(R"(nodes.train_set={"use":"dataset:stalling","with":{"after":)" + std::to_string(after) +
                   R"(,"milliseconds":)" + std::to_string(milliseconds) + "}}");
    return sets;
  }
};

TEST_F(LoaderRun, NeitherThreadsNorMemoryChangeAByte) {
  const auto expected = checkpoint_bytes(run(kSmallPipeline, {"nodes.train.with.workers=0"}));
  for (const char* const change : {"nodes.train.with.workers=3", R"(nodes.train.with.workers="auto")",
                                   R"(nodes.train.with.memory="1 kB")", "nodes.train.with.prefetch=9"}) {
    EXPECT_EQ(checkpoint_bytes(run(kSmallPipeline, {change})), expected) << change;
  }
}

TEST_F(LoaderRun, TheLogTellsWhereTheTimeOfEachIntervalWent) {
  const RunOutcome outcome = run(kSmallPipeline);
  const std::vector<core::Json> steps = events(outcome, "step");
  ASSERT_FALSE(steps.empty());
  for (const core::Json& step : steps) {
    const core::Json& values = step["values"];
    const double waiting = values["train.waiting"];
    const double copy = values["train.copy"];
    const double compute = values["train.compute"];
    EXPECT_GE(waiting, 0);
    EXPECT_GT(copy, 0);
    EXPECT_GT(compute, 0);
    EXPECT_NEAR(waiting + copy + compute, 1, 1e-6);
    EXPECT_EQ(values["train.loader.workers"], 1);
  }
  EXPECT_GT(steps.front()["values"]["train.loader.samples_per_second"].get<double>(), 0);
}

TEST_F(LoaderRun, OneSentenceTellsThatTrainingWaitedAndWhatWouldHelp) {
  const RunOutcome outcome = run(kSmallPipeline, stalling(0, 1, {"fit.epochs=2"}));
  const std::vector<core::Json> told = events(outcome, "timing");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0]["text"], "loader \"train\": 1 thread, at most 2 batches or 1 GiB ahead");
  EXPECT_EQ(told[0]["step"], 0);
  const std::string text = told[1]["text"];
  EXPECT_NE(text.find("training waited for loader \"train\""), std::string::npos) << text;
  EXPECT_NE(text.find("for storage or other machines; more \"workers\""), std::string::npos) << text;
}

TEST_F(LoaderRun, WhatWasChosenIsToldAndAgainInTheEndIfItChanged) {
  const RunOutcome outcome =
      run(kSmallPipeline, stalling(0, 1, {"fit.epochs=12", R"(nodes.train.with.workers="auto")"}));
  std::vector<std::string> choices;
  for (const core::Json& each : events(outcome, "timing")) {
    std::string text = each["text"];
    if (text.starts_with("loader \"train\": ")) choices.push_back(std::move(text));
  }
  ASSERT_FALSE(choices.empty());
  EXPECT_EQ(choices.front(), "loader \"train\": as many threads as help, at most 2 batches or 1 GiB ahead");
  choices.erase(choices.begin());
  ASSERT_GE(choices.size(), 1U);
  ASSERT_LE(choices.size(), 2U);
  for (const std::string& choice : choices) {
    EXPECT_NE(choice.find(" chosen for "), std::string::npos) << choice;
  }
}

TEST_F(LoaderRun, BadSamplesThatAreToleratedAreToldAtTheEndOfTheirEpoch) {
  const RunOutcome outcome =
      run(kSmallPipeline, {R"(nodes.shift={"use":"transform:throwing","in":"train_set","with":{"probability":0.02}})",
                           R"(nodes.train.with.bad_sample={"policy":"skip","max":500})"});
  const std::vector<core::Json> told = events(outcome, "message");
  ASSERT_EQ(told.size(), 2U);
  for (std::size_t epoch = 0; epoch < told.size(); ++epoch) {
    const std::string text = told[epoch]["text"];
    EXPECT_TRUE(text.starts_with("epoch " + std::to_string(epoch + 1) + ": ")) << text;
    EXPECT_NE(text.find(" samples could not be made; \"shift\" (transform:throwing), sample "), std::string::npos)
        << text;
  }
}

TEST_F(LoaderRun, ASampleThatDoesNotComeBackEndsTheRunWithItsName) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    run(kSmallPipeline, stalling(990, 60'000, {R"(nodes.train.with.sample_timeout="1 s")"}));
    FAIL() << "nothing was thrown";
  } catch (const PlacedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_EQ(error.diagnostic().pointer, "/nodes/train_set/use");
    const std::string text = error.what();
    EXPECT_NE(text.find("\"train_set\" (dataset:stalling), sample 99"), std::string::npos) << text;
    EXPECT_NE(text.find("under way for more than 1 s"), std::string::npos) << text;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "nobody waits for the sample";
}

TEST_F(LoaderRun, AThreadMakesItsSamplesAloneHoweverManyTrainingHas) {
  const auto with = [](const char* workers) {
    return std::vector<std::string>{"run.threads=2", std::string("nodes.train.with.workers=") + workers, "fit.epochs=1",
                                    R"(+nodes.alone={"use":"transform:needs_one_core","in":"train_set"})",
                                    R"(nodes.shift.in="alone")"};
  };
  for (const char* const workers : {"1", "8"}) EXPECT_EQ(run(kSmallPipeline, with(workers)).steps, 17);
  try {
    run(kSmallPipeline, with("0"));
    FAIL() << "nothing was thrown";
  } catch (const PlacedError& error) {
    EXPECT_NE(std::string(error.what()).find("made by 2 threads"), std::string::npos) << "the trainer's own thread";
  }
}

}  // namespace
}  // namespace tenon::engine
