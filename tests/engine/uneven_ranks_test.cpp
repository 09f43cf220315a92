// Ranks whose shares are uneven or empty: short batches, bad samples, another number of ranks after a resume. All end
// as one rank alone does.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <engine/pipeline_fixture.hpp>
#include <engine/ranks.hpp>

namespace tenon::engine {
namespace {

class UnevenRanks : public PipelineTest {
 protected:
  /// The gradient of the last step, the weights and the log of one are those of the other.
  static void expect_equal(const RunOutcome& whole, const RunOutcome& parts, const std::string& what) {
    EXPECT_EQ(whole.steps, parts.steps) << what;
    EXPECT_EQ(whole.samples_used, parts.samples_used) << what;
    for (const auto* file : {"optimizer.opt.safetensors", "model.net.safetensors"}) {
      EXPECT_LT(file_difference(whole.last_checkpoint / file, parts.last_checkpoint / file), kBound)
          << what << ": " << file;
    }
    const auto log = logged(whole);
    const auto other = logged(parts);
    ASSERT_EQ(log.size(), other.size()) << what;
    for (const auto& [key, value] : log) {
      ASSERT_TRUE(other.contains(key)) << what << ": " << key;
      EXPECT_NEAR(value, other.at(key), kBound) << what << ": " << key;
    }
  }

  static std::string ranks_of(int64_t ranks) { return std::to_string(ranks) + " ranks"; }
};

TEST_F(UnevenRanks, LastBatchesThatAreAFewSamplesShortGiveTheGradientsOfOneRank) {
  for (const int size : {45, 46, 47, 49}) {  // of batches of 24; the last of 49 is a single sample
    const std::vector<std::string> sets{"nodes.train_set.with.size=" + std::to_string(size), "fit.epochs=2"};
    const RunOutcome whole = run(kRegression, sets);
    EXPECT_EQ(whole.samples_used, 2 * size);
    for (const int64_t ranks : {2, 3, 4}) {
      expect_equal(whole, run(kRegression, on_ranks(ranks, sets)), std::to_string(size) + " on " + ranks_of(ranks));
    }
  }
}

TEST_F(UnevenRanks, WithoutASampleInAnyStepGiveTheGradientsOfOneRank) {
  const std::vector<std::string> sets{"nodes.train.with.batch=2", "nodes.train_set.with.size=19", "fit.epochs=2"};
  const RunOutcome whole = run(kRegression, sets);
  ASSERT_EQ(whole.steps, 20);
  for (const int64_t ranks : {3, 4}) expect_equal(whole, run(kRegression, on_ranks(ranks, sets)), ranks_of(ranks));
}

/// Samples that cannot be made, and what becomes of them.
std::vector<std::string> bad(const std::string& probability, const std::string& policy,
                             std::vector<std::string> sets = {}) {
  sets.push_back(R"(+nodes.bad={"use":"transform:throwing","in":"train_set","with":{"probability":)" + probability +
                 "}}");
  sets.emplace_back(R"(nodes.shift.in="bad")");
  sets.push_back(R"(nodes.train.with.bad_sample=)" + policy);
  return sets;
}

TEST_F(UnevenRanks, BadSamplesAreLeftOutOrReplacedAsOnOneRank) {
  for (const std::string policy : {R"({"policy":"skip","max":500})", R"({"policy":"substitute","max":500})"}) {
    const RunOutcome whole = run(kSmallPipeline, bad("0.05", policy, settings({1, 3})));
    ASSERT_EQ(whole.steps, 40);
    for (const int64_t ranks : {2, 3}) {
      expect_equal(whole, run(kSmallPipeline, bad("0.05", policy, settings({ranks, 3}))),
                   policy + " on " + ranks_of(ranks));
    }
  }
}

/// Windows of two samples, of which many are skipped.
std::vector<std::string> mostly_skipped(int64_t ranks, const std::string& probability) {
  std::vector<std::string> sets = settings({ranks, 1});
  for (const char* const each : {"nodes.train.with.batch=2", "+fit.limit=40", "fit.epochs=1"}) sets.emplace_back(each);
  return bad(probability, R"({"policy":"skip","max":1000})", std::move(sets));
}

TEST_F(UnevenRanks, AWindowThatLosesAllItsSamplesPassesAsOnOneRank) {
  const RunOutcome whole = run(kSmallPipeline, mostly_skipped(1, "0.7"));
  ASSERT_EQ(whole.steps, 40);
  for (const auto& [name, weight] : read_tensors(whole.last_checkpoint / "model.net.safetensors")) {
    EXPECT_TRUE(at::isfinite(weight).all().item<bool>()) << name;
  }
  for (const int64_t ranks : {2, 3}) {
    expect_equal(whole, run(kSmallPipeline, mostly_skipped(ranks, "0.7")), ranks_of(ranks));
  }
}

TEST_F(UnevenRanks, WithoutAnySampleLeaveTheWeightsAsTheyWere) {
  const RunOutcome none = run(kSmallPipeline, mostly_skipped(1, "1"));
  ASSERT_EQ(none.steps, 40);
  for (const int64_t ranks : {2, 3})
    expect_equal(none, run(kSmallPipeline, mostly_skipped(ranks, "1")), ranks_of(ranks));
  for (const auto& [name, grad] : read_tensors(none.last_checkpoint / "optimizer.opt.safetensors")) {
    EXPECT_EQ(grad.abs().max().item<double>(), 0) << name;
  }
  std::vector<std::string> once = mostly_skipped(1, "1");
  once.emplace_back("fit.limit=1");
  const RunOutcome first = run(kSmallPipeline, once);
  ASSERT_EQ(first.steps, 1);
  const auto* file = "model.net.safetensors";
  EXPECT_EQ(file_difference(none.last_checkpoint / file, first.last_checkpoint / file), 0);
}

TEST_F(UnevenRanks, MoreBadSamplesThanAllowedEndTheRunWithTheFirstTooMany) {
  for (const int64_t ranks : {1, 2}) {
    for (const std::string policy : {R"({"policy":"skip","max":3})", R"({"policy":"substitute","max":3})"}) {
      try {
        run(kSmallPipeline, bad("0.05", policy, on_ranks(ranks)));
        FAIL() << "nothing was thrown";
      } catch (const PlacedError& error) {
        EXPECT_EQ(error.code(), ErrorCode::kData) << error.what();
        EXPECT_EQ(error.diagnostic().pointer, "/nodes/bad/use");
        const std::string text = error.what();
        EXPECT_NE(
            text.find("this sample is unreadable; epoch 0 had 3 bad samples before, and bad_sample allows no more"),
            std::string::npos)
            << text;
      }
    }
  }
}

TEST_F(UnevenRanks, ARunThatGoesOnWithAnotherNumberOfRanksSeesEverySampleOnceAndEndsAsAStraightOne) {
  const RunOutcome straight = run(kRegression);
  for (const auto& [before, after] : {std::pair<int64_t, int64_t>{1, 2}, {3, 1}, {2, 4}}) {
    for (const int64_t step : {5, 12}) {  // at the end of an epoch of 5 steps, and within one
      runs_ = folder_ / (std::to_string(before) + "-" + std::to_string(after) + "-" + std::to_string(step));
      RunRequest wanted = request(kRegression, on_ranks(before));
      wanted.interrupt_at = step;
      const RunOutcome first = run_session(wanted);
      RunRequest other = resumed(kRegression, on_ranks(after));
      other.accepted = {"world"};
      const RunOutcome second = run_session(other);
      const std::string what = ranks_of(before) + ", then " + ranks_of(after) + ", at step " + std::to_string(step);
      EXPECT_EQ(first.samples_used + second.samples_used, straight.samples_used) << what;
      EXPECT_EQ(second.samples_read, straight.samples_used - first.samples_used) << what;
      EXPECT_EQ(second.first_read, std::pair(step / 5, step % 5)) << what;
      for (const auto* file : {"optimizer.opt.safetensors", "model.net.safetensors"}) {
        EXPECT_LT(difference(straight.last_checkpoint / file, second.last_checkpoint / file), kBound) << what;
      }
      EXPECT_NEAR(straight.validation.at("validate.error"), second.validation.at("validate.error"), kBound) << what;
    }
  }
}

}  // namespace
}  // namespace tenon::engine
