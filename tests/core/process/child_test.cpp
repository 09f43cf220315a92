// A program run to its end, or not.
#include <core/process/child.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

using std::chrono::seconds;

class Child : public testing::Test {
 protected:
  ChildResult shell(const std::string& script, seconds limit = kNoLimit, const std::function<bool()>& cancelled = {}) {
    return run_child("/bin/sh", {"-c", script}, messages_, limit, cancelled);
  }

  TemporaryFolder folder_;
  std::filesystem::path messages_ = folder_ / "messages";
};

TEST_F(Child, GivesItsExitCodeAndTheEndOfWhatItSays) {
  const ChildResult result = shell("head -c 20000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 7");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.messages.size(), 8192U);
  EXPECT_TRUE(result.messages.ends_with("xend\n"));
  EXPECT_FALSE(result.timed_out || result.cancelled);
  EXPECT_FALSE(std::filesystem::exists(messages_));
}

TEST_F(Child, ArgumentsArriveAsTheyAre) {
  const ChildResult result =
      run_child("/bin/sh", {"-c", "printf '%s|' \"$@\" >&2", "sh", "a b", "", "*", "'"}, messages_);
  EXPECT_EQ(result.messages, "a b||*|'|");
}

TEST_F(Child, ASignalThatEndsItIsPartOfTheExitCode) { EXPECT_EQ(shell("kill -SEGV $$").exit_code, 128 + SIGSEGV); }

TEST_F(Child, IsEndedAtTheLimit) {
  const ChildResult result = shell("sleep 60", seconds(0));
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.cancelled);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
}

TEST_F(Child, IsEndedWhenItsOwnerWantsIt) {
  int asked = 0;
  const ChildResult result = shell("sleep 60", kNoLimit, [&] { return ++asked == 3; });
  EXPECT_TRUE(result.cancelled);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_EQ(asked, 3);
}

TEST_F(Child, AProgramThatIsNotThereIsTold) {
  EXPECT_NE(message_of<Error>([&] { (void)run_child("/nowhere/program", {}, messages_); }).find("/nowhere/program"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::core
