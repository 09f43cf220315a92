// Files appear complete or not at all.
#include <core/storage/atomic_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/storage/temporary_folder.hpp>

namespace tenon::core {
namespace {

size_t entries_in(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(AtomicFile, keeps_the_old_content_until_commit) {
  const TemporaryFolder folder;
  put(folder / "a", "old");
  AtomicFile file(folder / "a");
  file.write("new");
  EXPECT_EQ(content_of(folder / "a"), "old");
  EXPECT_EQ(content_of(file.temporary()), "new");
  file.commit();
  EXPECT_EQ(content_of(folder / "a"), "new");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(AtomicFile, its_head_may_be_replaced_while_it_is_written) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.write("12 rows: one");
  file.replace_head(" 2");
  file.write(", two");
  file.commit();
  EXPECT_EQ(content_of(folder / "a"), " 2 rows: one, two");
}

TEST(AtomicFile, leaves_nothing_without_commit) {
  const TemporaryFolder folder;
  { AtomicFile(folder / "a").write("half"); }
  EXPECT_EQ(entries_in(folder.path()), 0U);
}

TEST(AtomicFile, two_writers_of_one_name_do_not_disturb_each_other) {
  const TemporaryFolder folder;
  AtomicFile first(folder / "a");
  AtomicFile second(folder / "a");
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(content_of(folder / "a"), "first");
  second.commit();
  EXPECT_EQ(content_of(folder / "a"), "second");
}

TEST(AtomicFile, names_path_and_cure_when_the_folder_is_missing) {
  const TemporaryFolder folder;
  try {
    write_atomically(folder / "no/such/a", "text");
    FAIL() << "written into a folder that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kStorage);
    EXPECT_NE(std::string(error.what()).find((folder / "no/such/a").string()), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("a folder on the way is missing"), std::string::npos) << error.what();
  }
}

TEST(AtomicFile, says_what_to_do_on_a_full_disk) {
  const Error error = storage_error("write", "/runs/a", ENOSPC);
  EXPECT_STREQ(
      error.what(),
      "cannot write /runs/a: No space left on device (free some space there, or choose another place with run.dir)");
}

TEST(AtomicFile, names_what_chose_the_place) {
  const auto says = [](const Error& error) {
    return std::string(error.what()).find("choose another place with --out") != std::string::npos;
  };
  EXPECT_TRUE(says(storage_error("write", "rows.csv", ENOSPC, kOutOption)));
  const FileDescriptor full(::open("/dev/full", O_WRONLY));
  if (!full) GTEST_SKIP() << "/dev/full cannot be opened";
  try {
    write_all(full, bytes_of("text"), "/dev/full", kOutOption);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_TRUE(says(error)) << error.what();
  }
}

TEST(OpenForReading, tells_the_limit_of_open_files_whatever_the_file_is_for) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const FileDescriptor next(::open("/dev/null", O_RDONLY));
  rlimit small = before;
  small.rlim_cur = static_cast<rlim_t>(next.get());  // numbers below it are taken
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  ErrorCode code = ErrorCode::kConfig;
  std::string message;
  try {
    (void)open_for_reading("/proc/self/exe", ErrorCode::kPlugin);
  } catch (const Error& error) {
    code = error.code();
    message = error.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(code, ErrorCode::kStorage);
  const std::string wanted = fmt::format("Too many open files (the limit of this process is {}", small.rlim_cur);
  EXPECT_NE(message.find(wanted), std::string::npos) << message;
  EXPECT_NE(message.find("ulimit -n"), std::string::npos) << message;
}

TEST(AtomicFile, a_full_device_is_an_error_of_the_write) {
  const FileDescriptor full(::open("/dev/full", O_WRONLY));
  if (!full) GTEST_SKIP() << "/dev/full cannot be opened";
  const std::string message = message_of<Error>([&] { write_all(full, bytes_of("text"), "/dev/full"); });
  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
}

TEST(RemoveTemporaries, takes_what_killed_writers_left_and_nothing_else) {
  const TemporaryFolder folder;
  put(folder / ".index.json.tmp-123-0", "half");
  put(folder / ".step-000100.tmp-9-1/state.json", "half");
  put(folder / ".lock", "");
  put(folder / ".notes.tmp-mine", "by somebody else");
  put(folder / "index.json", "{}");
  remove_temporaries(folder.path());
  EXPECT_EQ(entries_in(folder.path()), 3U);
  EXPECT_TRUE(std::filesystem::exists(folder / ".notes.tmp-mine"));
  EXPECT_NO_THROW(remove_temporaries(folder / "missing"));
}

TEST(RequireSpace, takes_what_fits_and_leaves_nothing_behind) {
  const TemporaryFolder folder;
  require_space(folder / "new/checkpoints", 1 << 20);
  EXPECT_EQ(entries_in(folder / "new/checkpoints"), 0U);
}

TEST(RequireSpace, names_wanted_and_free_space) {
  const TemporaryFolder folder;
  for (const uint64_t bytes : {uint64_t{1} << 60, UINT64_MAX}) {
    const std::string message = message_of<Error>([&] { require_space(folder.path(), bytes); });
    EXPECT_NE(message.find("are needed for a checkpoint"), std::string::npos) << message;
  }
  EXPECT_EQ(entries_in(folder.path()), 0U);
}

TEST(ReadText, refuses_what_is_no_regular_file_without_waiting_for_it) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  put(folder / "big", "12345");
  const auto message = [&](const std::filesystem::path& path, uint64_t limit) {
    return message_of<Error>([&] { (void)read_text(path, ErrorCode::kCheckpoint, limit); });
  };
  EXPECT_NE(message(folder / "fifo", 100).find("no regular file"), std::string::npos);
  EXPECT_NE(message(folder.path(), 100).find("is a folder"), std::string::npos);
  EXPECT_NE(message(folder / "none", 100).find("No such file"), std::string::npos);
  EXPECT_NE(message(folder / "big", 4).find("at most 4"), std::string::npos);
  EXPECT_EQ(read_text(folder / "big", ErrorCode::kCheckpoint, 5), "12345");
}

}  // namespace
}  // namespace tenon::core
