// Passes over data beside the loader's: for samplers, for transforms that learn, for data check and data show. None
// hangs, none is deaf to Ctrl-C, and what the loader tolerates they tolerate.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <engine/data_check.hpp>
#include <engine/data_show.hpp>
#include <engine/pipeline_fixture.hpp>

namespace tenon::engine {
namespace {

using std::chrono::steady_clock;

class DataReading : public PipelineTest {
 protected:
  /// The training data as a thousand images, from one of which on each takes a minute.
  static std::vector<std::string> stalling(std::vector<std::string> more, int after = 300,
                                           const std::string& mark = "") {
    more.push_back(R"(nodes.train_set={"use":"dataset:stalling","with":{"milliseconds":60000,"mark":")" + mark +
                   R"(","after":)" + std::to_string(after) + "}}");
    return more;
  }

  /// A transform that learns in front of what a path of the small pipeline has already.
  static std::vector<std::string> learning(std::vector<std::string> more) {
    more.insert(more.end(),
                {R"(nodes.train_x={"use":"transform:standardize","in":"shift","with":{"fields":["image"]}})",
                 R"(nodes.val_x={"call":"train_x","in":"val_set"})"});
    return more;
  }

  static constexpr const char* kFails =
      R"(nodes.shift={"use":"transform:throwing","in":"train_set","with":{"probability":0.02}})";
  static constexpr const char* kSoon = R"(nodes.train.with.sample_timeout="1 s")";
  static constexpr const char* kBalance = R"(nodes.train.with={"batch":64,"workers":1,"sampler":{"balance":"label"}})";

  template <class Call>
  static PlacedError error_of(const Call& call) {
    const steady_clock::time_point begin = steady_clock::now();
    try {
      call();
    } catch (const PlacedError& error) {
      EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(20)) << "nobody waits for the sample";
      return error;
    }
    throw std::logic_error("no error");
  }

  static void expect_named(const PlacedError& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code(), ErrorCode::kData) << text;
    EXPECT_EQ(error.diagnostic().pointer, "/nodes/train_set/use") << text;
    EXPECT_NE(text.find("\"train_set\" (dataset:stalling), sample 3"), std::string::npos) << text;
    EXPECT_NE(text.find("under way for more than 1 s"), std::string::npos) << text;
  }

  DataCheckRequest check_request(std::vector<std::string> sets) {
    RunRequest run = request(kSmallPipeline, std::move(sets));
    return {.graph = std::move(run.graph),
            .resolved = std::move(run.resolved),
            .catalogue = run.catalogue,
            .paths = {"fit"}};
  }

  DataShowRequest show_request(std::vector<std::string> sets, int64_t count = 64) {
    RunRequest run = request(kSmallPipeline, std::move(sets));
    return {
        .graph = std::move(run.graph), .resolved = std::move(run.resolved), .catalogue = run.catalogue, .count = count};
  }
};

TEST_F(DataReading, CtrlCWhileASamplerReadsEndsTheRunAndLeavesNone) {
  for (const int64_t ranks : {1, 2}) {
    for (const bool preflight : {false, true}) {
      const std::filesystem::path mark = folder_ / "hangs";
      std::filesystem::remove(mark);
      std::vector<std::string> sets = stalling({kBalance}, 300, mark.string());
      if (ranks > 1) {
        sets.insert(sets.end(),
                    {R"(+nodes.ranks={"use":"distributed:threads","with":{"ranks":2}})", R"(run.distributed="ranks")"});
      }
      Interruption interruption;
      RunRequest wanted = request(kSmallPipeline, sets);
      wanted.interruption = &interruption;
      wanted.preflight = preflight;
      steady_clock::time_point asked;
      std::thread somebody([&] {
        for (int i = 0; i < 60'000 && !std::filesystem::exists(mark); ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        asked = steady_clock::now();
        interruption.request(SIGINT);
      });
      const RunOutcome outcome = run_session(wanted);
      const steady_clock::time_point ended = steady_clock::now();
      somebody.join();
      EXPECT_EQ(outcome.interrupted, SIGINT);
      EXPECT_LT(ended - asked, std::chrono::seconds(5)) << ranks << " ranks, preflight " << preflight;
      EXPECT_TRUE(outcome.directory.empty());
    }
  }
}

TEST_F(DataReading, ARunThatGoesOnIsWhereItWasWhenThatEndsIt) {
  RunRequest first = request(kSmallPipeline);
  first.interrupt_at = 20;  // in the second epoch
  const RunOutcome saved = run_session(first);
  const std::filesystem::path mark = folder_ / "hangs";
  for (const bool branch : {false, true}) {
    std::filesystem::remove(mark);
    Interruption interruption;
    RunRequest wanted = resumed(kSmallPipeline, stalling({kBalance}, 300, mark.string()));
    wanted.resume->branch = branch;
    wanted.interruption = &interruption;
    std::thread somebody([&] {
      for (int i = 0; i < 60'000 && !std::filesystem::exists(mark); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      interruption.request(SIGTERM);
    });
    const RunOutcome outcome = run_session(wanted);
    somebody.join();
    EXPECT_EQ(outcome.interrupted, SIGTERM);
    EXPECT_EQ(outcome.last_checkpoint, saved.last_checkpoint);
    EXPECT_EQ(outcome.directory, branch ? std::filesystem::path() : saved.directory);
    EXPECT_EQ(outcome.first_step, 20);
    EXPECT_EQ(outcome.steps, 20);
    EXPECT_EQ(outcome.epochs, 1);
  }
}

TEST_F(DataReading, ASamplersPassNamesTheSampleThatHangs) {
  expect_named(error_of([&] { (void)run(kSmallPipeline, stalling({kBalance, kSoon})); }));
}

TEST_F(DataReading, ATransformThatLearnsNamesTheSampleThatHangs) {
  expect_named(error_of([&] { (void)run(kSmallPipeline, stalling(learning({kSoon}))); }));
}

TEST_F(DataReading, ACheckNamesTheSampleThatHangs) {
  expect_named(error_of([&] { (void)check_data(check_request(stalling({kSoon}))); }));
}

TEST_F(DataReading, AShowNamesTheSampleThatHangs) {
  const auto show = [&] { (void)show_data(show_request(stalling({kSoon, "nodes.train.with.shuffle=false"}), 400)); };
  expect_named(error_of(show));
}

TEST_F(DataReading, TransformsLearnFromTheRestWhereTheLoaderToleratesBadSamples) {
  EXPECT_NE(std::string(error_of([&] { (void)run(kSmallPipeline, learning({kFails})); }).what()).find("unreadable"),
            std::string::npos);
  for (const char* const policy : {"skip", "substitute"}) {
    const std::string bad = std::string(R"(nodes.train.with.bad_sample={"policy":")") + policy + R"(","max":500})";
    const RunOutcome outcome = run(kSmallPipeline, learning({kFails, bad}));
    const std::string log = bytes_below(outcome.directory)["log.jsonl"];
    EXPECT_NE(log.find(R"(\"train_x\" learned without )"), std::string::npos) << log;
    EXPECT_NE(log.find("which could not be made; \\\"shift\\\" (transform:throwing), sample "), std::string::npos)
        << log;
  }
  const PlacedError many = error_of([&] {
    (void)run(kSmallPipeline, learning({kFails, R"(nodes.train.with.bad_sample={"policy":"skip","max":2})"}));
  });
  EXPECT_EQ(many.code(), ErrorCode::kData);
  EXPECT_NE(std::string(many.what()).find("bad_sample allows no more"), std::string::npos) << many.what();
}

TEST_F(DataReading, AnIndexThatFailsIsPlacedAtItsDataset) {
  const PlacedError error = error_of([&] {
    (void)run(kSmallPipeline, {R"(nodes.train_set={"use":"dataset:bad_index"})", kBalance});
  });
  EXPECT_EQ(error.diagnostic().pointer.substr(0, 16), "/nodes/train_set") << error.diagnostic().pointer;
  EXPECT_NE(std::string(error.what()).find("the index has a hole"), std::string::npos) << error.what();
}

TEST_F(DataReading, SamplesThatCannotBeMadeAreShownInTheirPlaceAndTransformsOfBatchesAreNamed) {
  const DataShown shown = show_data(
      show_request({kFails, R"(+nodes.mixed={"use":"transform:batch_mixup","in":"train","with":{"classes":10}})",
                    R"(nodes.loss.use="loss:soft_cross_entropy")", R"(fit.data="mixed")"},
                   300));
  EXPECT_EQ(shown.left_out, std::vector<std::string>{"mixed"});
  ASSERT_EQ(shown.samples.size(), 300U);
  std::size_t failed = 0;
  for (const ShownSample& sample : shown.samples) {
    EXPECT_EQ(sample.values.empty(), !sample.failure.empty());
    if (sample.failure.empty()) continue;
    ++failed;
    EXPECT_NE(sample.failure.find("sample " + std::to_string(sample.index) + " of \"train_set\""), std::string::npos);
  }
  EXPECT_GT(failed, 0U);
  EXPECT_LT(failed, 30U);
}

TEST_F(DataReading, WhatIsShownKeepsNoMoreOfASampleThanItIsToldTo) {
  DataShowRequest request = show_request({}, 20);
  std::vector<int64_t> seen;
  request.reduce = [&](const std::vector<ShownField>& fields, ShownSample& sample) {
    EXPECT_EQ(fields.size(), sample.values.size());
    EXPECT_EQ(sample.values.front().bytes.size(), 64 * sizeof(float));
    seen.push_back(sample.index);
    sample.values.front().bytes.clear();
  };
  const DataShown shown = show_data(request);
  ASSERT_EQ(shown.samples.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(shown.samples[i].index, seen[i]);
    EXPECT_TRUE(shown.samples[i].values.front().bytes.empty());
  }
}

}  // namespace
}  // namespace tenon::engine
