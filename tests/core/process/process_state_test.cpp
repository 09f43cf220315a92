// Each change of the process that a library must not make is seen.
#include <core/process/process_state.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <csignal>
#include <filesystem>
#include <functional>
#include <locale>
#include <string>

namespace tenon::core {
namespace {

struct Change {
  const char* what;
  std::function<void()> make;
  std::function<void()> take_back;
};

TEST(ProcessState, SeesEachChangeAndNoOther) {
  const std::filesystem::path here = std::filesystem::current_path();
  const mode_t mask = ::umask(0022);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGSEGV);
  const Change changes[] {
    {"rounds", [] { std::fesetround(FE_UPWARD); }, [] { std::fesetround(FE_TONEAREST); }},
#if defined(__x86_64__)
        {"near zero", [] { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U); },
         [] { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~0x8040U); }},
#endif
        {"locale", [] { std::setlocale(LC_NUMERIC, "C.UTF-8"); }, [] { std::setlocale(LC_NUMERIC, "C"); }},
        {"handlers", [] { (void)std::signal(SIGUSR1, SIG_IGN); }, [] { (void)std::signal(SIGUSR1, SIG_DFL); }},
        {"let through", [&] { ::pthread_sigmask(SIG_BLOCK, &one, nullptr); },
         [&] { ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr); }},
        {"current folder", [] { std::filesystem::current_path("/"); }, [&] { std::filesystem::current_path(here); }},
        {"umask", [] { (void)::umask(0077); }, [] { (void)::umask(0022); }},
        {"timer", [] { (void)::alarm(1000); }, [] { (void)::alarm(0); }},
  };
  for (const Change& each : changes) {
    const ProcessState before;
    each.make();
    const std::vector<std::string> found = before.changes(ProcessState());
    each.take_back();
    ASSERT_EQ(found.size(), 1U) << each.what;
    EXPECT_NE(found.front().find(each.what), std::string::npos) << found.front();
    EXPECT_TRUE(before.changes(ProcessState()).empty()) << each.what;
  }
  (void)::umask(mask);
}

TEST(ProcessState, DoesNotCountWhatArithmeticLeaves) {
  const ProcessState before;
  volatile double zero = 0;
  EXPECT_GT(1 / (zero + 3) + 1 / zero, 1e308);  // inexact, and a division by zero
  EXPECT_NE(std::fetestexcept(FE_INEXACT | FE_DIVBYZERO), 0);
  EXPECT_TRUE(before.changes(ProcessState()).empty());
}

}  // namespace
}  // namespace tenon::core
