// The index, and which checkpoints retention lets go.
#include <core/storage/checkpoint_index.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <core/storage/checkpoint.hpp>
#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kKey = "validate.acc";

std::vector<CheckpointRecord> history_of(const std::vector<double>& values) {
  std::vector<CheckpointRecord> history;
  history.reserve(values.size());
  for (const double value : values) {
    history.push_back({static_cast<int64_t>(history.size() + 1), 0, {{kKey, value}}, 0, false, true});
  }
  return history;
}

void write_step(const std::filesystem::path& checkpoints, int64_t step) {
  CheckpointWriter writer(checkpoints, step);
  writer.add_json("state", {{"step", step}});
  (void)writer.commit();
}

TEST(BestSteps, are_the_best_by_direction) {
  const auto history = history_of({0.5, 0.9, 0.7});
  EXPECT_EQ(best_steps(history, kKey, Direction::kMax, 2), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(best_steps(history, kKey, Direction::kMin, 2), (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(best_steps(history, "validate.loss", Direction::kMin, 2).empty());
}

TEST(BestSteps, keep_the_earlier_of_two_equal_ones) {
  EXPECT_EQ(best_steps(history_of({0.1, 0.9, 0.9}), kKey, Direction::kMax, 1), (std::vector<int64_t>{2}));
}

TEST(BestSteps, never_take_a_value_that_is_not_finite) {
  EXPECT_EQ(best_steps(history_of({kNan, kInfinity, 0.1, -kInfinity}), kKey, Direction::kMax, 4),
            (std::vector<int64_t>{3}));
  EXPECT_EQ(best_steps(history_of({kNan, -kInfinity, 0.1}), kKey, Direction::kMin, 4), (std::vector<int64_t>{3}));
}

TEST(Superfluous, is_what_is_neither_new_nor_good) {
  const auto history = history_of({0.9, 0.1, 0.8, 0.2, 0.3});
  EXPECT_EQ(superfluous(history, {2, 1, kKey, Direction::kMax}), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(superfluous(history, {1, 2, kKey, Direction::kMin}), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(superfluous(history, {0, 0, kKey, Direction::kMin}),
            (std::vector<int64_t>{1, 2, 3, 4}));  // the newest stays
  EXPECT_TRUE(superfluous({}, {}).empty());
}

/// Random metrics and limits, saved and validated in turn as a run does: the best of all and the newest are always
/// there.
TEST(Superfluous, never_takes_the_newest_or_the_best) {
  std::mt19937_64 random(13);
  const auto below = [&random](uint64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 2'000; ++round) {
    const RetentionRule rule{below(4), below(4), kKey, below(2) == 0 ? Direction::kMax : Direction::kMin};
    CheckpointIndex index;
    std::vector<CheckpointRecord> all;  // as if nothing were ever removed
    const int64_t steps = 1 + below(30);
    for (int64_t step = 1; step <= steps; ++step) {
      const int64_t kind = below(12);
      const double value = kind == 0 ? kNan : kind == 1 ? kInfinity : static_cast<double>(below(6));
      index.add({step, 0, {}, 0, true, true});
      all.push_back({step, 0, {}, 0, false, true});
      if (kind != 2) {  // a run may end before its validation
        all.back().metrics[kKey] = value;
        (void)index.validated(step, all.back().metrics, rule);
      }
      const std::vector<int64_t> gone = superfluous(index.history, rule);
      for (CheckpointRecord& record : index.history) {
        if (std::ranges::find(gone, record.step) != gone.end()) record.kept = false;
      }
      std::set<int64_t> kept;
      for (const CheckpointRecord& record : index.history) {
        if (record.kept) kept.insert(record.step);
      }
      std::set<int64_t> expected;
      for (int64_t newest = step; newest > std::max<int64_t>(step - std::max<int64_t>(rule.last, 1), 0); --newest) {
        expected.insert(newest);
      }
      for (const int64_t best : best_steps(all, kKey, rule.direction, rule.best)) {
        expected.insert(best);
      }
      ASSERT_EQ(kept, expected) << "round " << round << " step " << step;
      ASSERT_EQ(index.last, step);
      if (rule.best > 0 && index.best) {
        ASSERT_TRUE(kept.contains(*index.best));
      }
    }
  }
}

TEST(CheckpointIndex, says_when_a_step_becomes_the_best) {
  const RetentionRule rule{1, 1, kKey, Direction::kMax};
  CheckpointIndex index;
  const auto next = [&](int64_t step, double value) {
    index.add({step, 0, {}, 0, true, true});
    return index.validated(step, {{kKey, value}}, rule);
  };
  EXPECT_FALSE(next(1, kNan));
  EXPECT_EQ(index.best, std::nullopt);
  EXPECT_TRUE(next(2, 0.5));
  EXPECT_FALSE(next(3, 0.5));
  EXPECT_TRUE(next(4, 0.6));
  EXPECT_EQ(index.best, 4);
  EXPECT_FALSE(index.find(4)->pending_validation);
  EXPECT_FALSE(index.validated(99, {{kKey, 1.0}}, rule));
  EXPECT_EQ(index.find(99), nullptr);
}

TEST(CheckpointIndex, gives_back_what_was_saved) {
  const TemporaryFolder folder;
  EXPECT_TRUE(CheckpointIndex::load(folder.path()).history.empty());
  CheckpointIndex index;
  index.add({20, 2, {}, 12.5, true, true});
  index.add({10, 1, {{kKey, kNan}, {"validate.loss", kInfinity}, {"x", 0.1}}, 11.5, false, false});
  index.last = 20;
  index.best = 10;
  index.save(folder.path());
  const CheckpointIndex loaded = CheckpointIndex::load(folder.path());
  EXPECT_EQ(loaded.last, 20);
  EXPECT_EQ(loaded.best, 10);
  ASSERT_EQ(loaded.history.size(), 2U);
  EXPECT_EQ(loaded.history[0].step, 10);
  EXPECT_TRUE(std::isnan(loaded.history[0].metrics.at(kKey)));
  EXPECT_EQ(loaded.history[0].metrics.at("validate.loss"), kInfinity);
  EXPECT_FALSE(loaded.history[0].kept);
  EXPECT_TRUE(loaded.history[1].pending_validation);
  EXPECT_EQ(loaded.history[1].wall_time, 12.5);
}

TEST(CheckpointIndex, names_a_file_that_is_damaged) {
  const TemporaryFolder folder;
  for (const char* text : {"", "{", "[]", "{}", R"({"format":1})", R"({"format":1,"history":[{"step":"x"}]})",
                           R"({"format":1,"history":3})", R"({"format":1,"history":[],"last":"x"})"}) {
    put(folder / "index.json", text);
    try {
      (void)CheckpointIndex::load(folder.path());
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCheckpoint);
      EXPECT_NE(std::string(error.what()).find((folder / "index.json").string()), std::string::npos) << error.what();
    }
  }
}

TEST(ApplyRetention, removes_folders_and_keeps_their_history) {
  const TemporaryFolder folder;
  CheckpointIndex index;
  const RetentionRule rule{1, 1, kKey, Direction::kMax};
  for (const auto& [step, value] : {std::pair{1, 0.9}, {2, 0.1}, {3, 0.5}}) {
    write_step(folder.path(), step);
    index.add({step, 0, {}, 0, true, true});
    (void)index.validated(step, {{kKey, value}}, rule);
  }
  apply_retention(folder.path(), index, rule);
  EXPECT_TRUE(std::filesystem::exists(folder / "step-000001"));
  EXPECT_FALSE(std::filesystem::exists(folder / "step-000002"));
  EXPECT_TRUE(std::filesystem::exists(folder / "step-000003"));
  const CheckpointIndex loaded = CheckpointIndex::load(folder.path());
  ASSERT_EQ(loaded.history.size(), 3U);
  EXPECT_FALSE(loaded.find(2)->kept);
  EXPECT_EQ(loaded.best, 1);
  std::filesystem::remove_all(folder / "step-000001");  // by somebody else
  EXPECT_NO_THROW(apply_retention(folder.path(), index, {1, 0, kKey, Direction::kMax}));
}

}  // namespace
}  // namespace tenon::core
