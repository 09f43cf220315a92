// A log cut back to a checkpoint: what stays, what is set aside, what is dropped.
#include <core/resume/log_cut.hpp>

#include <sys/resource.h>

#include <csignal>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/storage/event_log.hpp>
#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

std::string line(const std::string& event, int64_t step) {
  return fmt::format(R"({{"event":"{}","step":{},"time":1.5,"epoch":0}})", event, step) + "\n";
}

const std::string kStart = line("run_start", 0) + line("step", 10);
const std::string kSaved = line("checkpoint", 10);
const std::string kRest = line("validate", 10) + line("step", 20) + line("checkpoint", 20) + line("run_end", 20);

TEST(CutLog, keeps_the_line_of_the_checkpoint_and_sets_aside_what_is_behind) {
  const TemporaryFolder folder;
  put(folder / "log.jsonl", kStart + kSaved + kRest);
  EXPECT_TRUE(cut_log(folder / "log.jsonl", 10));
  EXPECT_EQ(content_of(folder / "log.jsonl"), kStart + kSaved);
  EXPECT_EQ(content_of(folder / "log.cut-0001.jsonl"), kRest);
}

TEST(CutLog, goes_by_the_last_line_of_that_checkpoint) {
  const TemporaryFolder folder;
  put(folder / "log.jsonl", kStart + kSaved + line("message", 10) + kSaved + kRest);
  EXPECT_TRUE(cut_log(folder / "log.jsonl", 10));
  EXPECT_EQ(content_of(folder / "log.jsonl"), kStart + kSaved + line("message", 10) + kSaved);
}

TEST(CutLog, without_a_line_of_the_checkpoint_keeps_the_steps_up_to_it) {
  const TemporaryFolder folder;
  put(folder / "log.jsonl", kStart + line("step", 12) + line("step", 15) + line("message", 15));
  EXPECT_FALSE(cut_log(folder / "log.jsonl", 12));
  EXPECT_EQ(content_of(folder / "log.jsonl"), kStart + line("step", 12));
  EXPECT_EQ(content_of(folder / "log.cut-0001.jsonl"), line("step", 15) + line("message", 15));
  EXPECT_FALSE(cut_log(folder / "log.jsonl", 5));
  EXPECT_EQ(content_of(folder / "log.jsonl"), line("run_start", 0));
}

TEST(CutLog, a_checkpoint_of_another_step_and_another_event_of_this_one_are_not_it) {
  const TemporaryFolder folder;
  put(folder / "log.jsonl", line("checkpoint", 1) + line("best", 10) + line("checkpoint", 100));
  EXPECT_FALSE(cut_log(folder / "log.jsonl", 10));
  EXPECT_EQ(content_of(folder / "log.jsonl"), line("checkpoint", 1) + line("best", 10));
}

TEST(CutLog, drops_a_torn_line_and_nothing_else) {
  const TemporaryFolder folder;
  put(folder / "log.jsonl", kStart + kSaved + R"({"event":"step","st)");
  EXPECT_TRUE(cut_log(folder / "log.jsonl", 10));
  EXPECT_EQ(content_of(folder / "log.jsonl"), kStart + kSaved);
  EXPECT_FALSE(std::filesystem::exists(folder / "log.cut-0001.jsonl"));
  put(folder / "log.jsonl", kStart + kSaved + kRest + R"({"event":"checkpoint","step":10)");
  EXPECT_TRUE(cut_log(folder / "log.jsonl", 10));
  EXPECT_EQ(content_of(folder / "log.cut-0001.jsonl"), kRest);
}

TEST(CutLog, takes_the_next_free_name) {
  const TemporaryFolder folder;
  const std::string whole = kStart + kSaved + kRest;
  for (const char* const name : {"log.cut-0001.jsonl", "log.cut-0002.jsonl", "log.cut-0003.jsonl"}) {
    put(folder / "log.jsonl", whole);
    EXPECT_TRUE(cut_log(folder / "log.jsonl", 10));
    EXPECT_EQ(content_of(folder / name), kRest) << name;
  }
}

TEST(CutLog, leaves_a_log_alone_that_ends_there) {
  const TemporaryFolder folder;
  put(folder / "log.jsonl", kStart + kSaved);
  const auto before = std::filesystem::last_write_time(folder / "log.jsonl");
  std::filesystem::permissions(folder / "log.jsonl", std::filesystem::perms::owner_read);
  EXPECT_TRUE(cut_log(folder / "log.jsonl", 10));
  EXPECT_EQ(std::filesystem::last_write_time(folder / "log.jsonl"), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(CutLog, a_log_that_is_not_there_is_made_by_nobody) {
  const TemporaryFolder folder;
  EXPECT_FALSE(cut_log(folder / "log.jsonl", 10));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CutLog, a_line_that_is_no_event_stays_with_those_around_it) {
  const TemporaryFolder folder;
  const std::string odd = "what is this\n[]\n{\"step\":\"10\",\"event\":\"checkpoint\"}\n\n";
  put(folder / "log.jsonl", odd + kStart + kSaved + odd + kRest);
  EXPECT_TRUE(cut_log(folder / "log.jsonl", 10));
  EXPECT_EQ(content_of(folder / "log.jsonl"), odd + kStart + kSaved);
  EXPECT_EQ(content_of(folder / "log.cut-0001.jsonl"), odd + kRest);
}

/// Lines longer than what is read at once, and line feeds at every place of a piece's border.
TEST(CutLog, finds_lines_across_the_pieces_in_which_it_reads) {
  for (const std::size_t length : {65'450U, 65'480U, 65'500U, 65'535U, 65'536U, 65'537U, 131'072U, 3'000'000U}) {
    const TemporaryFolder folder;
    const std::string longer =
        fmt::format(R"({{"event":"message","step":10,"text":"{}"}})", std::string(length, 'x')) + "\n";
    const std::string kept = fmt::format("{}{}{}", kStart, longer, kSaved);
    const std::string rest = fmt::format("{}{}", longer, kRest);
    put(folder / "log.jsonl", fmt::format("{}{}", kept, rest));
    EXPECT_TRUE(cut_log(folder / "log.jsonl", 10)) << length;
    EXPECT_TRUE(content_of(folder / "log.jsonl") == kept) << length;
    EXPECT_TRUE(content_of(folder / "log.cut-0001.jsonl") == rest) << length;
  }
}

TEST(CutLog, can_be_written_on) {
  const TemporaryFolder folder;
  put(folder / "log.jsonl", kStart + kSaved + kRest);
  (void)cut_log(folder / "log.jsonl", 10);
  EventLog log(folder / "log.jsonl", [] { return 1.5; });
  log.write("step", 20, {{"epoch", 0}});
  EXPECT_EQ(content_of(folder / "log.jsonl"), kStart + kSaved + line("step", 20));
}

/// No file may grow beyond what is cut, so that the second file cannot be written, whoever runs the test.
TEST(CutLog, a_file_that_cannot_be_written_is_a_storage_error_and_loses_nothing) {
  const TemporaryFolder folder;
  const std::string rest = line("step", 20);
  const std::string whole = kStart + kSaved + rest;
  put(folder / "log.jsonl", whole);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t limit : {rlim_t{4}, rlim_t{rest.size()}}) {
    const rlimit small{limit, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string message = message_of<Error>([&] { (void)cut_log(folder / "log.jsonl", 10); });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_NE(message.find("cannot write"), std::string::npos) << message;
    EXPECT_EQ(content_of(folder / "log.jsonl"), whole);
  }
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(content_of(folder / "log.cut-0001.jsonl"), rest);
  EXPECT_TRUE(cut_log(folder / "log.jsonl", 10));
  EXPECT_EQ(content_of(folder / "log.jsonl"), kStart + kSaved);
}

TEST(CopyLog, gives_what_a_cut_would_leave_and_keeps_the_log) {
  const TemporaryFolder folder;
  put(folder / "log.jsonl", kStart + kSaved + kRest);
  EXPECT_TRUE(copy_log(folder / "log.jsonl", folder / "copy.jsonl", 10));
  EXPECT_EQ(content_of(folder / "copy.jsonl"), kStart + kSaved);
  EXPECT_FALSE(copy_log(folder / "log.jsonl", folder / "copy.jsonl", 15));
  EXPECT_EQ(content_of(folder / "copy.jsonl"), kStart + kSaved + line("validate", 10));
  EXPECT_EQ(content_of(folder / "log.jsonl"), kStart + kSaved + kRest);
  EXPECT_FALSE(copy_log(folder / "none.jsonl", folder / "other.jsonl", 10));
  EXPECT_FALSE(std::filesystem::exists(folder / "other.jsonl"));
}

}  // namespace
}  // namespace tenon::core
