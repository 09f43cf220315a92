// What handles crashes while somebody asked for it, and what does otherwise.
#include <core/process/crash_handlers.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <core/json/json.hpp>
#include <core/process/breadcrumb.hpp>
#include <core/process/crash_file.hpp>
#include <core/process/crash_report.hpp>
#include <core/process/crash_scene.hpp>
#include <core/process/crash_text.hpp>
#include <core/process/mapped_file_at.hpp>
#include <core/storage/scratch_folder.hpp>

namespace tenon::core {
namespace {

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

struct sigaction action_of(int signal) {
  struct sigaction action = {};
  sigaction(signal, nullptr, &action);
  return action;
}

void another_handler(int /*signal*/) {}
void another_end() { std::abort(); }

[[gnu::noinline]] void follow_null() {
  const volatile int* volatile nowhere = nullptr;
  static_cast<void>(*nowhere);
}

[[gnu::noinline]] void throw_text(const char* text) { throw std::runtime_error(text); }

class CrashHandling : public testing::Test {
 protected:
  void SetUp() override {
    if (!CrashHandlers::kAvailable) GTEST_SKIP() << "the sanitizer handles crashes itself";
    GTEST_FLAG_SET(death_test_style, "fast");  // the child writes into the folder of the test
  }
};
using CrashHandlingDeathTest = CrashHandling;

TEST_F(CrashHandling, NothingIsInstalledUnlessAsked) {
  EXPECT_FALSE(CrashHandlers::installed());
  const AlternateStack named("loader", 1);
  stack_t stack = {};
  sigaltstack(nullptr, &stack);
  EXPECT_NE(stack.ss_flags & SS_DISABLE, 0);
  for (const int signal : kSignals) EXPECT_EQ(action_of(signal).sa_handler, SIG_DFL) << signal;
}

TEST_F(CrashHandling, FormerHandlersComeBack) {
  struct sigaction own = {};
  own.sa_handler = &another_handler;
  struct sigaction before = {};
  sigaction(SIGFPE, &own, &before);
  const std::terminate_handler end_before = std::set_terminate(&another_end);
  {
    const CrashHandlers handlers;
    EXPECT_TRUE(CrashHandlers::installed());
    for (const int signal : kSignals) EXPECT_NE(action_of(signal).sa_flags & SA_SIGINFO, 0) << signal;
    EXPECT_NE(std::get_terminate(), &another_end);
    { const CrashHandlers second; }
    EXPECT_TRUE(CrashHandlers::installed()) << "a second one does nothing, also when it goes";
    std::thread([] {
      const AlternateStack own_stack("loader", 0);
      stack_t stack = {};
      sigaltstack(nullptr, &stack);
      EXPECT_EQ(stack.ss_flags & SS_DISABLE, 0);
    }).join();
  }
  EXPECT_FALSE(CrashHandlers::installed());
  EXPECT_EQ(action_of(SIGFPE).sa_handler, &another_handler);
  EXPECT_EQ(std::get_terminate(), &another_end);
  EXPECT_EQ(action_of(SIGSEGV).sa_handler, SIG_DFL);
  stack_t stack = {};
  sigaltstack(nullptr, &stack);
  EXPECT_NE(stack.ss_flags & SS_DISABLE, 0);
  std::set_terminate(end_before);
  sigaction(SIGFPE, &before, nullptr);
}

TEST_F(CrashHandlingDeathTest, WithoutAPluginNobodyIsBlamed) {
  EXPECT_EXIT(
      {
        const CrashHandlers handlers;
        follow_null();
      },
      testing::ExitedWithCode(3),
      "a crash \\(SIGSEGV at address 0x0\\), on thread main; which plugin is to blame, if one is, is not known");
}

TEST_F(CrashHandlingDeathTest, TheLastCallIsNamedWithCaution) {
  EXPECT_EXIT(
      {
        const CrashHandlers handlers;
        const Callee& loss = callee("org.example.losses", "1.0.0", "/l.so", "loss:mse", "loss");
        const Entered entered(&loss, kBackward);
        std::abort();
      },
      testing::ExitedWithCode(3),
      "is not known: the last call was backward of \"loss\" \\(loss:mse of plugin org.example.losses\\), which need "
      "not be the cause");
}

/// A mapping of a file of three pages, of which one is left.
const char* shortened(const std::filesystem::path& path, std::size_t left) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::ofstream(path) << std::string(3 * page, 'x');
  const int file = ::open(path.c_str(), O_RDONLY);
  const void* const memory = ::mmap(nullptr, 3 * page, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  std::filesystem::resize_file(path, left);
  return static_cast<const char*>(memory);
}

[[gnu::noinline]] void touch(const char* byte) { static_cast<void>(*static_cast<const volatile char*>(byte)); }

TEST_F(CrashHandlingDeathTest, AMappedFileThatBecameShorterIsNamed) {
  const ScratchFolder folder(std::filesystem::temp_directory_path(), "crash");
  const std::filesystem::path path = folder.path() / "two words.npy";
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  EXPECT_EXIT(
      {
        const CrashHandlers handlers;
        const char* const bytes = shortened(path, 100);
        touch(bytes + page - 1);  // of the page that is left in part
        touch(bytes + 2 * page);
      },
      testing::ExitedWithCode(3),
      path.string() + ", which is mapped, became shorter: it ends at byte 100, and byte " + std::to_string(2 * page) +
          " was read at address 0x");
  EXPECT_EXIT(
      {
        const CrashHandlers handlers;
        const char* const bytes = shortened(path, 0);
        std::filesystem::remove(path);
        touch(bytes);
      },
      testing::ExitedWithCode(3),
      path.string() + " \\(deleted\\), which is mapped, became shorter, or its disk failed at address 0x");
}

TEST(MappedFileAt, TellsFileAndPlaceAmongManyMappings) {
  const ScratchFolder folder(std::filesystem::temp_directory_path(), "maps");
  const std::filesystem::path path = folder.path() / "file.bin";
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::ofstream(path) << std::string(4 * page, 'x');
  const int file = ::open(path.c_str(), O_RDONLY);
  std::vector<char*> mapped;
  for (int i = 0; i < 2000; ++i) {  // every other page, so that no two are one mapping
    const off_t offset = i % 2 == 0 ? 0 : static_cast<off_t>(2 * page);
    mapped.push_back(static_cast<char*>(::mmap(nullptr, page, PROT_READ, MAP_SHARED, file, offset)));
  }
  ::close(file);
  std::array<char, kMappedPathRoom> memory{};
  for (std::size_t i = 0; i < mapped.size(); i += 37) {
    const MappedPlace place = mapped_file_at(reinterpret_cast<uintptr_t>(mapped[i]) + 5, memory);
    EXPECT_EQ(place.path, path.string());
    EXPECT_EQ(place.offset, static_cast<int64_t>(i % 2 == 0 ? 5 : 2 * page + 5));
  }
  EXPECT_EQ(mapped_file_at(reinterpret_cast<uintptr_t>(&memory), memory).path, "") << "of no file";
  EXPECT_EQ(mapped_file_at(1, memory).path, "");
  for (char* const each : mapped) ::munmap(each, page);
}

TEST_F(CrashHandlingDeathTest, WhatIsThrownOutOfANoexceptFunctionIsTold) {
  const auto throws = [](const char* text) noexcept { throw_text(text); };
  EXPECT_EXIT(
      {
        const CrashHandlers handlers;
        throws("no such luck");
      },
      testing::ExitedWithCode(3), "std::terminate after an exception of type std::runtime_error: no such luck");
}

TEST_F(CrashHandlingDeathTest, APluginThatCallsExitIsTold) {
  for (void (*const end)(int) : {&std::exit, &std::quick_exit}) {
    EXPECT_EXIT(
        {
          const CrashHandlers handlers;
          const Callee& sgd = callee("org.example.sgd", "1.0.0", "/o.so", "optimizer:sgd", "opt");
          const Entered entered(&sgd, "step");
          end(0);
        },
        testing::ExitedWithCode(3),
        "plugin org.example.sgd 1.0.0 \\(/o.so\\) ended the process \\(it called exit\\(\\)\\) in step of \"opt\"");
  }
}

TEST_F(CrashHandlingDeathTest, AProgramMayCallExitItself) {
  EXPECT_EXIT(
      {
        const CrashHandlers handlers;
        std::exit(5);
      },
      testing::ExitedWithCode(5), "^$");
}

TEST_F(CrashHandlingDeathTest, TheReportIsWrittenIntoTheRun) {
  const ScratchFolder folder(std::filesystem::temp_directory_path(), "crash-");
  EXPECT_EXIT(
      {
        const CrashHandlers handlers;
        const CrashScene scene(false);
        CrashScene::enter(folder.path());
        CrashScene::checkpoint(folder.path() / "checkpoints/step-000005");
        CrashScene::checkpoint(folder.path() / "checkpoints/step-000010");
        CrashScene::at(12);
        const Callee& data = callee("org.example.data", "1.0.0", "/d.so", "dataset:\"x", "data");
        const Entered entered(&data, "read", 7);
        follow_null();
      },
      testing::ExitedWithCode(3), "plugin org.example.data 1.0.0 \\(/d.so\\) crashed .* in read of \"data\"");
  std::ifstream in(folder.path() / kCrashFile);
  const Json report = Json::parse(in);
  EXPECT_EQ(report.at("call").at("component"), "dataset:\"x");
  EXPECT_EQ(report.at("call").at("sample"), 7);
  EXPECT_EQ(report.at("step"), 12);
  EXPECT_EQ(report.at("checkpoint"), (folder.path() / "checkpoints/step-000010").string());
  EXPECT_EQ(read_crash(folder.path()), report.at("message"));

  set_crash_aside(folder.path());
  EXPECT_FALSE(read_crash(folder.path()));
  std::ofstream(folder.path() / kCrashFile) << "no JSON";
  EXPECT_FALSE(read_crash(folder.path()));
  set_crash_aside(folder.path());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "crash-1.json"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "crash-2.json"));
  set_crash_aside(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "crash-3.json"));
}

TEST(CrashText, WritesNumbersAndJson) {
  std::array<char, 256> memory{};
  CrashText text(memory);
  text << int64_t{0} << " " << INT64_MIN << ' ';
  text.hex(0) << ' ';
  text.hex(0xdeadbeef) << ' ';
  text.digits(7, 3) << ' ';
  text.json("a\"\\\nb\x01\xff\xc3\xa4\xe2\x82").plain("c\td");
  EXPECT_EQ(text.text(), "0 -9223372036854775808 0x0 0xdeadbeef 007 \"a\\\"\\\\\\nb ?\xc3\xa4??\"c d");
}

TEST(CrashText, LeavesOutWhatDoesNotFit) {
  std::array<char, 4> memory{};
  CrashText text(memory);
  text << "abc" << int64_t{123};
  EXPECT_EQ(text.text(), "abc1");
}

}  // namespace
}  // namespace tenon::core
