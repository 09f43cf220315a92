// The index, and which checkpoints retention lets go.
#include <core/storage/checkpoint_index.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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

TEST(CheckpointIndex, rewound_is_as_it_was_when_the_checkpoint_had_been_written) {
  const RetentionRule rule{1, 1, kKey, Direction::kMax};
  CheckpointIndex index;
  for (const auto& [step, value] : {std::pair{10, 0.5}, {20, 0.7}, {30, 0.9}}) {
    index.add({step, step / 10, {}, 0, true, true});
    (void)index.validated(step, {{kKey, value}}, rule);
  }
  CheckpointIndex done = index;
  done.rewind(20, false, rule);
  EXPECT_EQ(done.last, 20);
  EXPECT_EQ(done.best, 20);
  ASSERT_EQ(done.history.size(), 2U);
  EXPECT_EQ(done.history[1].metrics.at(kKey), 0.7);
  EXPECT_EQ(done.history[1].epoch, 2);

  index.rewind(20, true, rule);
  EXPECT_EQ(index.last, 20);
  EXPECT_EQ(index.best, 10) << "what is to be found again does not count";
  EXPECT_TRUE(index.find(20)->metrics.empty());
  EXPECT_TRUE(index.find(20)->pending_validation);
  EXPECT_EQ(index.find(30), nullptr);
}

TEST(CheckpointIndex, rewound_has_a_record_even_where_a_kill_came_before_it) {
  CheckpointIndex index;
  index.add({10, 1, {{kKey, 0.5}}, 0, false, true});
  index.add({30, 3, {{kKey, 0.7}}, 0, false, true});
  index.rewind(20, false, {1, 1, kKey, Direction::kMax});
  EXPECT_EQ(index.last, 20);
  EXPECT_EQ(index.best, 10);
  ASSERT_EQ(index.history.size(), 2U);
  EXPECT_TRUE(index.history[1].kept);
  CheckpointIndex empty;
  empty.rewind(5, true, {});
  EXPECT_EQ(empty.last, 5);
  EXPECT_EQ(empty.best, std::nullopt);
  EXPECT_TRUE(empty.find(5)->pending_validation);
}

TEST(CheckpointIndex, loaded_or_rebuilt_has_what_was_saved) {
  const TemporaryFolder folder;
  CheckpointIndex index;
  for (const int64_t step : {10, 20}) {
    write_step(folder.path(), step);
    index.add({step, step / 10, {{kKey, 0.5}}, 7, false, true});
  }
  index.best = 10;
  index.save(folder.path());
  std::vector<std::string> messages;
  const CheckpointIndex loaded = CheckpointIndex::load_or_rebuild(folder.path(), messages);
  EXPECT_TRUE(messages.empty());
  EXPECT_EQ(loaded.last, 20);
  EXPECT_EQ(loaded.best, 10);
  EXPECT_EQ(loaded.find(20)->wall_time, 7);
  EXPECT_EQ(loaded.find(20)->metrics.at(kKey), 0.5);
  EXPECT_TRUE(CheckpointIndex::load_or_rebuild(folder / "none", messages).history.empty());
  EXPECT_TRUE(messages.empty());
}

TEST(CheckpointIndex, a_damaged_or_missing_file_is_made_anew_from_the_folders) {
  const TemporaryFolder folder;
  for (const int64_t step : {10, 20}) {
    CheckpointWriter writer(folder.path(), step);
    const Json pending = step == 20 ? Json::array({"validate"}) : Json::array();
    writer.add_json("state", {{"pending", pending}, {"training", {{"epoch", step / 10}}}});
    (void)writer.commit();
  }
  put(folder / "step-000030/state.json", "{");
  for (const char* const text : {"{", "[]", R"({"format":2,"history":[]})", R"({"format":1,"history":[]})", ""}) {
    put(folder / "index.json", text);
    if (*text == '\0') std::filesystem::remove(folder / "index.json");
    std::vector<std::string> messages;
    const CheckpointIndex index = CheckpointIndex::load_or_rebuild(folder.path(), messages);
    ASSERT_EQ(messages.size(), 1U) << text;
    EXPECT_NE(messages[0].find((folder / "index.json").string()), std::string::npos) << messages[0];
    EXPECT_NE(messages[0].find("made anew"), std::string::npos) << messages[0];
    ASSERT_EQ(index.history.size(), 3U);
    EXPECT_EQ(index.last, 30);
    EXPECT_EQ(index.best, std::nullopt);
    EXPECT_EQ(index.history[0].epoch, 1);
    EXPECT_FALSE(index.history[0].pending_validation);
    EXPECT_EQ(index.history[1].epoch, 2);
    EXPECT_TRUE(index.history[1].pending_validation);
    EXPECT_GT(index.history[1].wall_time, 1.6e9);
    EXPECT_TRUE(index.history[2].kept);
  }
}

TEST(CheckpointIndex, the_folders_decide_about_what_is_there) {
  const TemporaryFolder folder;
  CheckpointIndex index;
  for (const int64_t step : {10, 20, 30}) {
    write_step(folder.path(), step);
    if (step != 30) index.add({step, 0, {{kKey, 0.5}}, 0, false, step != 20});
  }
  index.best = 10;
  index.save(folder.path());
  std::filesystem::remove_all(folder / "step-000010");
  std::vector<std::string> messages;
  const CheckpointIndex loaded = CheckpointIndex::load_or_rebuild(folder.path(), messages);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(messages.front().find("the best checkpoint, step-000010, is not there any more"), std::string::npos);
  EXPECT_FALSE(loaded.find(10)->kept) << "taken away by hand";
  EXPECT_TRUE(loaded.find(20)->kept) << "a kill came before its removal";
  EXPECT_TRUE(loaded.find(30)->kept) << "a kill came before its record";
  EXPECT_EQ(loaded.last, 30);
  EXPECT_EQ(loaded.best, std::nullopt);
}

/// Checkpoints, validations, kills and rewinds in any order: what the rule asks for among what survived is on disk.
TEST(CheckpointIndex, keeps_the_best_and_the_newest_of_the_surviving_timeline) {
  std::mt19937_64 random(29);
  const auto below = [&random](uint64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 3'000; ++round) {
    const int64_t count = below(4);
    const RetentionRule rule{below(4), count, count > 0 ? kKey : "", below(2) == 0 ? Direction::kMax : Direction::kMin};
    CheckpointIndex index;
    std::map<int64_t, double> disk;  // folders, with the metric that is known of each: NaN before its validation
    int64_t step = 0;
    for (int64_t action = 1 + below(40); action > 0; --action) {
      const int64_t what = below(5);
      if (what == 0 && !disk.empty()) {
        const auto to = std::next(disk.begin(), below(disk.size()));
        const bool pending = below(2) == 0;
        step = to->first;
        if (pending) to->second = kNan;
        if (below(3) == 0)
          std::erase_if(index.history, [&](const CheckpointRecord& record) { return record.step == step; });
        const bool known = index.find(step) != nullptr;
        if (!known) to->second = kNan;
        disk.erase(std::next(to), disk.end());
        index.rewind(step, pending, rule);
      } else {
        ++step;
        index.add({step, 0, {}, 0, true, true});
        disk[step] = kNan;
        if (what != 1) {  // killed before its validation
          disk[step] = below(10) == 0 ? kInfinity : static_cast<double>(below(6));
          (void)index.validated(step, {{kKey, disk[step]}}, rule);
          for (const int64_t gone : superfluous(index.history, rule)) {
            const auto record = std::ranges::find(index.history, gone, &CheckpointRecord::step);
            record->kept = false;
            ASSERT_EQ(disk.erase(gone), 1U);
          }
        }
      }
      std::vector<CheckpointRecord> there;
      there.reserve(disk.size());
      for (const auto& [at, value] : disk) there.push_back({at, 0, {{kKey, value}}, 0, false, true});
      ASSERT_EQ(index.last, step) << "round " << round;
      ASSERT_EQ(disk.rbegin()->first, step) << "round " << round;
      const std::vector<int64_t> best = best_steps(there, rule.metric, rule.direction, 1);
      ASSERT_EQ(index.best, best.empty() ? std::nullopt : std::optional(best.front())) << "round " << round;
      std::vector<int64_t> kept;
      for (const CheckpointRecord& record : index.history) {
        if (record.kept) kept.push_back(record.step);
      }
      ASSERT_TRUE(std::ranges::equal(kept, there, {}, {}, &CheckpointRecord::step)) << "round " << round;
      const std::vector<int64_t> superfluous_now = superfluous(index.history, rule);
      for (const int64_t needed : best_steps(there, rule.metric, rule.direction, rule.best)) {
        ASSERT_TRUE(std::ranges::find(superfluous_now, needed) == superfluous_now.end());
      }
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
