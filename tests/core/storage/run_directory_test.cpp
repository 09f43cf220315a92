// Run directories: one number, one owner.
#include <core/storage/run_directory.hpp>

#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

TEST(RunDirectory, counts_from_one_and_never_backwards) {
  const TemporaryFolder folder;
  EXPECT_EQ(RunDirectory::create(folder / "runs", "digits").path(), folder / "runs/digits/0001");
  const RunDirectory second = RunDirectory::create(folder / "runs", "digits");
  EXPECT_EQ(second.path(), folder / "runs/digits/0002");
  EXPECT_EQ(second.number(), 2);
  std::filesystem::remove_all(folder / "runs/digits/0001");
  EXPECT_EQ(RunDirectory::create(folder / "runs", "digits").number(), 3);
  EXPECT_EQ(RunDirectory::create(folder / "runs", "other").number(), 1);
  std::filesystem::rename(folder / "runs/digits/0003", folder / "runs/digits/12345");
  EXPECT_EQ(RunDirectory::create(folder / "runs", "digits").path(), folder / "runs/digits/12346");
}

TEST(RunDirectory, has_its_folders_and_takes_files) {
  const TemporaryFolder folder;
  const RunDirectory run = RunDirectory::create(folder.path(), "digits");
  EXPECT_TRUE(std::filesystem::is_directory(run.checkpoints()));
  EXPECT_TRUE(std::filesystem::is_directory(run.exports()));
  run.write_json("lock.json", {{"z", 1}, {"a", 2}});
  EXPECT_EQ(content_of(run.path() / "lock.json"), "{\n  \"z\": 1,\n  \"a\": 2\n}\n");
  run.write_text("config.resolved.json", "{}");
  EXPECT_EQ(content_of(run.path() / "config.resolved.json"), "{}");
  EXPECT_NO_THROW(run.require_space(1000));
  EXPECT_THROW(run.write_json("bad.json", {{"a", "\xff"}}), Error);
}

TEST(RunDirectory, concurrent_starts_get_numbers_of_their_own) {
  const TemporaryFolder folder;
  constexpr int kThreads = 8;
  constexpr int kEach = 5;
  std::vector<std::set<int64_t>> numbers(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int run = 0; run < kEach; ++run) {
        numbers[static_cast<size_t>(i)].insert(RunDirectory::create(folder.path(), "digits").number());
      }
    });
  }
  std::set<int64_t> all;
  for (int i = 0; i < kThreads; ++i) {
    threads[static_cast<size_t>(i)].join();
    all.merge(numbers[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(all.size(), size_t{kThreads * kEach});
  EXPECT_EQ(*all.rbegin(), kThreads * kEach);
  EXPECT_EQ(list_runs(folder.path(), "digits").size(), size_t{kThreads * kEach});
}

TEST(RunDirectory, is_live_while_it_is_open_and_no_longer) {
  const TemporaryFolder folder;
  std::filesystem::path path;
  {
    RunDirectory run = RunDirectory::create(folder.path(), "digits");
    const RunDirectory moved = std::move(run);
    path = moved.path();
    EXPECT_TRUE(is_live(path));
    try {
      (void)RunDirectory::open(path);
      FAIL() << "opened twice";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kStorage);
      EXPECT_NE(std::string(error.what()).find("belongs to a process that is running"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_FALSE(is_live(path));
  EXPECT_EQ(RunDirectory::open(path).number(), 1);
  EXPECT_EQ(RunDirectory::open(path / "").path(), path);
  EXPECT_FALSE(is_live(folder / "none"));
}

/// What it says of itself, which must be an error of storage.
template <class Action>
std::string storage_complaint(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kStorage);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(RunDirectory, notices_that_it_was_removed_or_replaced) {
  const TemporaryFolder folder;
  const RunDirectory run = RunDirectory::create(folder / "runs", "digits");
  EXPECT_NO_THROW(run.require_present());
  std::filesystem::remove_all(folder / "runs");
  const auto complaint = [&] { return storage_complaint([&] { run.require_present(); }); };
  EXPECT_NE(complaint().find(run.path().string() + " was removed while the run was going"), std::string::npos)
      << complaint();
  EXPECT_EQ(RunDirectory::create(folder / "runs", "digits").path(), run.path());  // another run has the name now
  EXPECT_NE(complaint().find("was removed while the run was going"), std::string::npos) << complaint();
}

TEST(RunDirectory, notices_where_it_was_moved_to) {
  const TemporaryFolder folder;
  const RunDirectory run = RunDirectory::create(folder / "runs", "digits");
  std::filesystem::rename(folder / "runs", folder / "kept");
  const std::string complaint = storage_complaint([&] { run.require_present(); });
  EXPECT_NE(complaint.find("was moved to " + (folder / "kept/digits/0001").string()), std::string::npos) << complaint;
  EXPECT_NE(complaint.find("--resume " + run.path().string()), std::string::npos) << complaint;
  std::filesystem::rename(folder / "kept", folder / "runs");
  EXPECT_NO_THROW(run.require_present());
}

TEST(RunDirectory, names_the_files_that_are_gone) {
  const TemporaryFolder folder;
  const RunDirectory run = RunDirectory::create(folder / "runs", "digits");
  put(run.log(), "");
  const std::vector<std::filesystem::path> files{"log.jsonl", run.checkpoints() / "step-000001",
                                                 run.checkpoints() / "step-000001", ""};
  put(files[1] / "manifest.json", "");
  EXPECT_NO_THROW(run.require_files(files));
  std::filesystem::remove(run.log());
  std::filesystem::remove_all(files[1]);
  const std::string complaint = storage_complaint([&] { run.require_files(files); });
  EXPECT_NE(complaint.find("had written there: log.jsonl, checkpoints/step-000001, removed"), std::string::npos)
      << complaint;
}

TEST(RunDirectory, a_killed_process_leaves_no_lock) {
  const TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunDirectory run = RunDirectory::create(folder.path(), "digits");
    const char number = static_cast<char>('0' + run.number());
    (void)!::write(ready[1], &number, 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, '1');
  EXPECT_TRUE(is_live(folder / "digits/0001"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_live(folder / "digits/0001"));
  EXPECT_NO_THROW((void)RunDirectory::open(folder / "digits/0001"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(RunDirectory, opening_removes_what_a_killed_process_left) {
  const TemporaryFolder folder;
  const std::filesystem::path path = RunDirectory::create(folder.path(), "digits").path();
  put(path / "checkpoints/.step-000005.tmp-1-0/state.json", "half");
  put(path / ".lock.json.tmp-1-0", "half");
  (void)RunDirectory::open(path);
  EXPECT_TRUE(std::filesystem::is_empty(path / "checkpoints"));
  EXPECT_FALSE(std::filesystem::exists(path / ".lock.json.tmp-1-0"));
}

TEST(RunDirectory, refuses_what_is_no_run) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "digits/notes");
  put(folder / "digits/0007", "a file");
  for (const std::filesystem::path& path : {folder / "digits/notes", folder / "digits/0007", folder / "missing"}) {
    try {
      (void)RunDirectory::open(path);
      ADD_FAILURE() << path << " was opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCheckpoint) << error.what();
    }
  }
}

TEST(RunDirectory, refuses_names_that_lead_elsewhere) {
  const TemporaryFolder folder;
  for (const char* name : {"", "..", "a/b", ".hidden"}) {
    EXPECT_THROW((void)RunDirectory::create(folder.path(), name), Error) << name;
  }
}

TEST(RunDirectory, passes_over_a_name_that_a_file_has) {
  const TemporaryFolder folder;
  put(folder / "digits/0001", "a file");
  EXPECT_EQ(RunDirectory::create(folder.path(), "digits").number(), 2);
  EXPECT_EQ(content_of(folder / "digits/0001"), "a file");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "digits"), {}), 2);
}

TEST(RunDirectory, says_what_to_do_where_a_file_is_in_the_way) {
  const TemporaryFolder folder;
  put(folder / "runs", "a file");
  const std::string message = message_of<Error>([&] { (void)RunDirectory::create(folder / "runs", "digits"); });
  EXPECT_NE(message.find("a file stands where a folder is needed"), std::string::npos) << message;
}

TEST(ListRuns, goes_by_name_and_number) {
  const TemporaryFolder folder;
  for (int i = 0; i < 3; ++i) {
    (void)RunDirectory::create(folder.path(), "b");
  }
  (void)RunDirectory::create(folder.path(), "a");
  std::filesystem::rename(folder / "b/0002", folder / "b/10000");
  std::vector<std::string> found;
  for (const RunPlace& place : list_runs(folder.path())) {
    found.push_back(place.path.lexically_relative(folder.path()));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"a/0001", "b/0001", "b/0003", "b/10000"}));
  EXPECT_TRUE(list_runs(folder / "none").empty());
}

}  // namespace
}  // namespace tenon::core
