// A program run to its end, or not.
#include <core/process/child.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <core/process/parent.hpp>
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

TEST_F(Child, EachLineOfItsOutputIsTakenWhenItComes) {
  std::vector<std::string> lines;
  const ChildSetup setup{.environment = {}, .take_line = [&](std::string_view line) { lines.emplace_back(line); }};
  // It goes on only when its first line was taken.
  const std::string script = "echo first; while ! test -e \"$0\"; do sleep 0.01; done; printf 'second\\n\\nthird'";
  const std::filesystem::path taken = folder_ / "taken";
  const auto look = [&] {
    if (!lines.empty() && !std::filesystem::exists(taken)) put(taken, "");
    return false;
  };
  const ChildResult result = run_child("/bin/sh", {"-c", script, taken}, messages_, seconds(30), look, setup);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(lines, (std::vector<std::string>{"first", "second", "", "third"}));
}

TEST_F(Child, AllOfALongOutputArrives) {
  std::size_t bytes = 0;
  const ChildSetup setup{.environment = {}, .take_line = [&](std::string_view line) { bytes += line.size(); }};
  const std::string script = "head -c 3000000 /dev/zero | tr '\\0' x; echo; head -c 500000 /dev/zero | tr '\\0' y";
  EXPECT_EQ(run_child("/bin/sh", {"-c", script}, messages_, seconds(60), {}, setup).exit_code, 0);
  EXPECT_EQ(bytes, 3500000U);
}

TEST_F(Child, WhatItLeavesRunningIsNotWaitedFor) {
  std::vector<std::string> lines;
  const ChildSetup setup{.environment = {}, .take_line = [&](std::string_view line) { lines.emplace_back(line); }};
  const auto begin = std::chrono::steady_clock::now();
  const ChildResult result = run_child("/bin/sh", {"-c", "sleep 20 & echo told"}, messages_, kNoLimit, {}, setup);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(lines, std::vector<std::string>{"told"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10));
}

TEST_F(Child, AnExceptionOfWhoTakesTheLinesEndsIt) {
  const ChildSetup setup{.environment = {}, .take_line = [](std::string_view) { throw std::runtime_error("enough"); }};
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW((void)run_child("/bin/sh", {"-c", "echo one; exec sleep 60"}, messages_, kNoLimit, {}, setup),
               std::runtime_error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(30));
  EXPECT_FALSE(std::filesystem::exists(messages_));
}

TEST_F(Child, HasTheGivenEnvironmentAlone) {
  std::vector<std::string> lines;
  // And what a program of ours needs to end with this one.
  const std::string parent = std::string(kParentVariable) + "=" + std::to_string(::getpid());
  const ChildSetup setup{.environment = {{"ONE=1", "PATH=/usr/bin:/bin"}},
                         .take_line = [&](std::string_view line) { lines.emplace_back(line); }};
  ASSERT_EQ(run_child("/usr/bin/env", {}, messages_, seconds(30), {}, setup).exit_code, 0);
  EXPECT_EQ(lines, (std::vector<std::string>{"ONE=1", "PATH=/usr/bin:/bin", parent}));
}

TEST_F(Child, HasTheEnvironmentOfThisProcessAndItsNumber) {
  const std::string number = std::to_string(::getpid());
  const ChildResult result = shell("test \"$TENON_PARENT\" = " + number + " && test -n \"$PATH\"");
  EXPECT_EQ(result.exit_code, 0);
}

TEST_F(Child, AProgramThatIsNotThereIsTold) {
  EXPECT_NE(message_of<Error>([&] { (void)run_child("/nowhere/program", {}, messages_); }).find("/nowhere/program"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::core
