// Which checkpoint a run goes on from, and how its directory is made ready.
#include <core/resume/resume_point.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/storage/checkpoint_index.hpp>
#include <core/storage/event_log.hpp>
#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

const ResumeRequest kAuto{ResumeMode::kAuto, {}};
const ResumeRequest kMust{ResumeMode::kMust, {}};

ResumeRequest at(const fs::path& path) { return {ResumeMode::kPath, path}; }

/// Runs of the name "digits" with checkpoints at given steps.
class ResumeTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path runs() const { return folder_ / "runs"; }

  /// A run that was left at its last checkpoint, or came to its end.
  fs::path make_run(const std::vector<int64_t>& steps, bool finished = false) {
    const RunDirectory run = RunDirectory::create(runs(), "digits");
    run.write_json("config.resolved.json", {{"name", "digits"}});
    EventLog log(run.log(), [] { return 2.0; });
    log.write("run_start", 0);
    CheckpointIndex index;
    for (const int64_t step : steps) {
      CheckpointWriter writer(run.checkpoints(), step);
      writer.add_json("state", {{"pending", Json::array()}, {"training", {{"epoch", step / 10}, {"step", step}}}});
      (void)writer.commit();
      index.add({step, step / 10, {}, 0, true, true});
      log.write("checkpoint", step);
      (void)index.validated(step, {{"validate.acc", -static_cast<double>(step)}}, {9, 1, "validate.acc", {}});
      index.save(run.checkpoints());
      log.write("validate", step);
    }
    if (finished) log.write("run_end", steps.back());
    return run.path();
  }

  static fs::path checkpoint(const fs::path& run, int64_t step) { return run / "checkpoints" / step_name(step); }

  static void damage(const fs::path& folder) {
    std::string text = content_of(folder / "state.json");
    text[text.size() / 2] ^= 1;
    put(folder / "state.json", text);
  }

  [[nodiscard]] std::optional<ResumePoint> find(const ResumeRequest& request) const {
    return find_resume_point(runs(), "digits", request);
  }

  [[nodiscard]] Error refusal(const ResumeRequest& request) const {
    try {
      (void)find(request);
    } catch (const Error& error) {
      return error;
    }
    return {ErrorCode::kConfig, "nothing was thrown"};
  }

  TemporaryFolder folder_;
};

/// Every file below a folder with its content.
std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    files[entry.path().lexically_relative(folder)] = entry.is_directory() ? "folder" : content_of(entry.path());
  }
  return files;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

bool says(const Error& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

TEST(ParseResume, takes_three_words_and_folders_that_are_there) {
  const TemporaryFolder folder;
  EXPECT_EQ(parse_resume("auto").mode, ResumeMode::kAuto);
  EXPECT_EQ(parse_resume("never").mode, ResumeMode::kNever);
  EXPECT_EQ(parse_resume("must").mode, ResumeMode::kMust);
  fs::create_directories(folder / "auto");
  const ResumeRequest request = parse_resume((folder / "auto").string());
  EXPECT_EQ(request.mode, ResumeMode::kPath);
  EXPECT_EQ(request.path, folder / "auto");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  EXPECT_EQ(parse_resume("auto").mode, ResumeMode::kAuto);
  EXPECT_EQ(parse_resume("./auto").mode, ResumeMode::kPath);
  fs::current_path(before);
}

TEST(ParseResume, lists_what_there_is_to_say) {
  const TemporaryFolder folder;
  put(folder / "a-file", "");
  using namespace std::string_literals;
  for (const std::string& text :
       {""s, "Auto"s, "yes"s, (folder / "none").string(), (folder / "a-file").string(), "a\0b"s}) {
    try {
      (void)parse_resume(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kConfig);
      EXPECT_TRUE(says(error, "auto, never, must, or the path of a run directory or checkpoint")) << error.what();
    }
  }
  EXPECT_NE(message_of<Error>([] { (void)parse_resume("nevr"); }).find("did you mean \"never\"?"), std::string::npos);
}

TEST_F(ResumeTest, auto_tells_why_there_is_nothing_to_go_on_from) {
  const auto why_not = [&] {
    std::string reason;
    EXPECT_FALSE(find_resume_point(runs(), "digits", kAuto, &reason));
    return reason;
  };
  EXPECT_EQ(why_not(), "");
  const fs::path empty = make_run({});
  EXPECT_EQ(why_not(), fmt::format("the newest run of that name, {}, has no checkpoint to go on from (it has none)",
                                   empty.string()));
  const fs::path finished = make_run({10}, true);
  EXPECT_EQ(why_not(), fmt::format("the newest run of that name, {}, is finished: to train it further give its path to "
                                   "--resume",
                                   finished.string()));
}

TEST_F(ResumeTest, never_looks_at_nothing) {
  make_run({10});
  EXPECT_FALSE(find({ResumeMode::kNever, {}}));
}

TEST_F(ResumeTest, auto_takes_the_newest_checkpoint_of_the_newest_run) {
  make_run({10, 20, 30});
  const fs::path run = make_run({10, 20});
  const auto point = find(kAuto);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->directory.path(), run);
  EXPECT_EQ(point->checkpoint.path(), checkpoint(run, 20));
  EXPECT_FALSE(point->branch);
  EXPECT_FALSE(point->finished);
  EXPECT_TRUE(point->damaged.empty());
  EXPECT_TRUE(is_live(run));
}

TEST_F(ResumeTest, auto_starts_a_new_run_where_the_newest_cannot_go_on) {
  EXPECT_FALSE(find(kAuto));
  make_run({10, 20});
  EXPECT_TRUE(find(kAuto));
  make_run({10}, true);
  EXPECT_FALSE(find(kAuto)) << "finished";
  make_run({});
  EXPECT_FALSE(find(kAuto)) << "no checkpoint";
  const fs::path run = make_run({10});
  damage(checkpoint(run, 10));
  EXPECT_FALSE(find(kAuto)) << "damaged";
  EXPECT_FALSE(find_resume_point(runs(), "other", kAuto)) << "another name";
}

TEST_F(ResumeTest, must_says_what_it_found_instead) {
  const auto refused = [&](const std::string& text) {
    const Error error = refusal(kMust);
    EXPECT_EQ(error.code(), ErrorCode::kCheckpoint);
    EXPECT_TRUE(says(error, text)) << error.what();
    EXPECT_TRUE(says(error, "--resume never")) << error.what();
  };
  refused("there is no run of the name \"digits\" in " + runs().string());
  const fs::path finished = make_run({10}, true);
  refused(finished.string() + ", is finished");
  const fs::path empty = make_run({});
  refused(empty.string() + ", has no checkpoint to go on from (it has none)");
  const fs::path run = make_run({10, 20});
  damage(checkpoint(run, 10));
  damage(checkpoint(run, 20));
  refused("none verifies: ");
  refused(checkpoint(run, 10).string() + " is damaged: state.json");
  refused(checkpoint(run, 20).string() + " is damaged: state.json");
}

TEST_F(ResumeTest, a_live_run_is_an_error_and_never_gets_a_second_one_beside_it) {
  const fs::path path = make_run({10});
  const RunDirectory held = RunDirectory::open(path);
  for (const ResumeRequest& request : {kAuto, kMust, at(path), at(checkpoint(path, 10))}) {
    const Error error = refusal(request);
    EXPECT_EQ(error.code(), ErrorCode::kStorage);
    EXPECT_TRUE(says(error, path.string() + " belongs to a process that is running")) << error.what();
  }
}

TEST_F(ResumeTest, a_damaged_checkpoint_is_named_and_the_one_before_it_is_used) {
  const fs::path run = make_run({10, 20, 30});
  damage(checkpoint(run, 30));
  fs::remove(checkpoint(run, 20) / "manifest.json");
  for (const ResumeRequest& request : {kAuto, kMust, at(run), at(checkpoint(run, 10))}) {
    const auto point = find(request);
    ASSERT_TRUE(point);
    EXPECT_EQ(point->checkpoint.step(), 10);
    EXPECT_FALSE(point->branch);
    ASSERT_EQ(point->damaged.size(), 2U);
    EXPECT_NE(point->damaged[0].find("step-000030 is damaged: state.json"), std::string::npos) << point->damaged[0];
    EXPECT_NE(point->damaged[1].find("step-000020/manifest.json"), std::string::npos) << point->damaged[1];
  }
}

TEST_F(ResumeTest, a_path_may_be_a_run_finished_or_not) {
  const fs::path run = make_run({10, 20}, true);
  make_run({5});
  for (const fs::path& path : {run, run / "", run / "exports/.."}) {
    const auto point = find(at(path));
    ASSERT_TRUE(point);
    EXPECT_EQ(point->checkpoint.path(), checkpoint(run, 20));
    EXPECT_TRUE(point->finished);
    EXPECT_FALSE(point->branch);
  }
  const Error none = refusal(at(make_run({})));
  EXPECT_EQ(none.code(), ErrorCode::kCheckpoint);
  EXPECT_TRUE(says(none, "has no checkpoint to go on from (it has none)")) << none.what();
}

TEST_F(ResumeTest, a_path_may_be_a_checkpoint_which_branches_off_unless_it_is_the_newest) {
  const fs::path run = make_run({10, 20, 30});
  const auto middle = find(at(checkpoint(run, 20) / ""));
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->checkpoint.path(), checkpoint(run, 20));
  EXPECT_TRUE(middle->branch);
}

TEST_F(ResumeTest, the_newest_checkpoint_of_a_run_given_by_path_is_no_branch) {
  const fs::path run = make_run({10, 20});
  const auto point = find(at(checkpoint(run, 20)));
  ASSERT_TRUE(point);
  EXPECT_FALSE(point->branch);
}

TEST_F(ResumeTest, a_checkpoint_given_by_path_that_is_damaged_is_an_error_that_names_the_file) {
  const fs::path run = make_run({10, 20});
  damage(checkpoint(run, 20));
  const Error error = refusal(at(checkpoint(run, 20)));
  EXPECT_EQ(error.code(), ErrorCode::kCheckpoint);
  EXPECT_TRUE(says(error, checkpoint(run, 20).string() + " is damaged: state.json")) << error.what();
}

TEST_F(ResumeTest, a_path_that_is_neither_is_an_error) {
  const fs::path run = make_run({10});
  fs::create_directories(folder_ / "step-000010");
  for (const fs::path& path : {folder_.path(), run / "checkpoints", folder_ / "step-000010", folder_ / "none"}) {
    EXPECT_EQ(refusal(at(path)).code(), ErrorCode::kCheckpoint) << path;
  }
  EXPECT_TRUE(says(refusal(at(run / "checkpoints")), "is neither a run directory"));
  EXPECT_TRUE(says(refusal(at(folder_ / "step-000010")), "does not lie in a run directory"));
}

TEST_F(ResumeTest, folders_with_a_number_that_are_no_runs_are_passed_over) {
  const fs::path run = make_run({10});
  fs::create_directories(runs() / "digits/0009");
  const auto point = find(kAuto);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->directory.path(), run);
}

TEST_F(ResumeTest, looking_changes_nothing_but_temporaries) {
  const fs::path run = make_run({10, 20, 30});
  damage(checkpoint(run, 30));
  const auto before = tree(run);
  put(run / "checkpoints/.step-000040.tmp-1-0/state.json", "half");
  for (const ResumeRequest& request : {kAuto, kMust, at(run), at(checkpoint(run, 10)), at(checkpoint(run, 20))}) {
    (void)find(request);
  }
  EXPECT_EQ(tree(run), before);
}

TEST_F(ResumeTest, rewinding_sets_damaged_checkpoints_aside_and_cuts_the_log) {
  const fs::path run = make_run({10, 20, 30}, true);
  damage(checkpoint(run, 30));
  damage(checkpoint(run, 20));
  const auto before = tree(run);
  auto point = find(at(run));
  ASSERT_TRUE(point);
  const RunDirectory directory = rewind(*point);
  EXPECT_EQ(directory.path(), run);
  EXPECT_TRUE(is_live(run));
  const auto after = tree(run);
  for (const char* const step : {"step-000020", "step-000030"}) {
    EXPECT_EQ(after.at(fmt::format("checkpoints/{}.damaged/state.json", step)),
              before.at(fmt::format("checkpoints/{}/state.json", step)));
    EXPECT_FALSE(after.contains(fmt::format("checkpoints/{}", step)));
  }
  EXPECT_EQ(after.at("log.jsonl") + after.at("log.cut-0001.jsonl"), before.at("log.jsonl"));
  EXPECT_TRUE(after.at("log.jsonl").ends_with("{\"event\":\"checkpoint\",\"step\":10,\"time\":2.0}\n"));
  EXPECT_EQ(list_checkpoints(run / "checkpoints").size(), 1U);
}

TEST_F(ResumeTest, what_was_set_aside_before_is_never_overwritten) {
  const fs::path run = make_run({10});
  for (const char* const expected : {"step-000020.damaged", "step-000020.damaged-2", "step-000020.damaged-3"}) {
    put(checkpoint(run, 20) / "state.json", expected);
    auto point = find(kAuto);
    ASSERT_TRUE(point);
    (void)rewind(*point);
    EXPECT_EQ(content_of(run / "checkpoints" / expected / "state.json"), expected);
  }
}

TEST_F(ResumeTest, rewinding_twice_is_rewinding_once) {
  const fs::path run = make_run({10, 20});
  auto first = find(kAuto);
  ASSERT_TRUE(first);
  (void)rewind(*first);
  const auto once = tree(run);
  auto second = find(kAuto);
  ASSERT_TRUE(second);
  (void)rewind(*second);
  EXPECT_EQ(tree(run), once);
}

TEST_F(ResumeTest, a_branch_gets_a_run_of_its_own_and_leaves_the_old_one_as_it_was) {
  const fs::path run = make_run({10, 20, 30, 40}, true);  // step 10 is the best
  make_run({10});
  const auto before = tree(run);
  auto point = find(at(checkpoint(run, 30)));
  ASSERT_TRUE(point);
  const RunDirectory directory = rewind(*point);
  EXPECT_EQ(directory.path(), runs() / "digits/0003");
  EXPECT_EQ(tree(run), before);

  const auto after = tree(directory.path());
  EXPECT_EQ(names_in(directory.checkpoints()), (std::vector<std::string>{"index.json", "step-000010", "step-000030"}));
  for (const auto& [name, content] : before) {
    if (!name.starts_with("checkpoints/step-000010") && !name.starts_with("checkpoints/step-000030")) continue;
    EXPECT_EQ(after.at(name), content) << name;
  }
  EXPECT_EQ(point->checkpoint.path(), checkpoint(directory.path(), 30));
  EXPECT_EQ(point->checkpoint.step(), 30);
  EXPECT_EQ(after.at("config.resolved.json"), before.at("config.resolved.json"));
  EXPECT_TRUE(before.at("log.jsonl").starts_with(after.at("log.jsonl")));
  EXPECT_TRUE(after.at("log.jsonl").ends_with("{\"event\":\"checkpoint\",\"step\":30,\"time\":2.0}\n"));

  const CheckpointIndex index = CheckpointIndex::load(directory.checkpoints());
  ASSERT_EQ(index.history.size(), 3U);
  EXPECT_EQ(index.last, 30);
  EXPECT_EQ(index.best, 10);
  EXPECT_TRUE(index.find(10)->kept);
  EXPECT_FALSE(index.find(20)->kept);
  EXPECT_TRUE(index.find(30)->kept);
  EXPECT_EQ(index.find(20)->metrics.at("validate.acc"), -20);
}

TEST_F(ResumeTest, a_branch_goes_without_a_best_checkpoint_that_is_later_gone_or_damaged) {
  const fs::path run = make_run({10, 20, 30});
  damage(checkpoint(run, 10));
  {
    auto point = find(at(checkpoint(run, 20)));
    ASSERT_TRUE(point);
    const RunDirectory directory = rewind(*point);
    EXPECT_EQ(CheckpointIndex::load(directory.checkpoints()).best, std::nullopt);
    EXPECT_EQ(names_in(directory.checkpoints()), (std::vector<std::string>{"index.json", "step-000020"}));
  }
  CheckpointIndex index = CheckpointIndex::load(run / "checkpoints");
  index.best = 30;
  index.save(run / "checkpoints");
  auto point = find(at(checkpoint(run, 20)));
  ASSERT_TRUE(point);
  EXPECT_EQ(CheckpointIndex::load(rewind(*point).checkpoints()).best, std::nullopt);
}

TEST_F(ResumeTest, a_branch_at_the_best_checkpoint_has_it_once) {
  const fs::path run = make_run({10, 20});
  auto point = find(at(checkpoint(run, 10)));
  ASSERT_TRUE(point);
  const RunDirectory directory = rewind(*point);
  const CheckpointIndex index = CheckpointIndex::load(directory.checkpoints());
  EXPECT_EQ(index.best, 10);
  EXPECT_EQ(index.last, 10);
  EXPECT_EQ(names_in(directory.checkpoints()), (std::vector<std::string>{"index.json", "step-000010"}));
}

TEST_F(ResumeTest, a_branch_of_a_run_without_an_index_or_a_log_is_made_all_the_same) {
  const fs::path run = make_run({10, 20});
  fs::remove(run / "log.jsonl");
  put(run / "checkpoints/index.json", "{");
  auto point = find(at(checkpoint(run, 10)));
  ASSERT_TRUE(point);
  const RunDirectory directory = rewind(*point);
  const CheckpointIndex index = CheckpointIndex::load(directory.checkpoints());
  ASSERT_EQ(index.history.size(), 1U);
  EXPECT_EQ(index.find(10)->epoch, 1);
  EXPECT_FALSE(fs::exists(directory.log()));
}

}  // namespace
}  // namespace tenon::core
