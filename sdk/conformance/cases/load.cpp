// The plugin's file, opened for the first time.
#include <conformance/case.hpp>

#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <locale>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tenon/error.hpp>

extern char** environ;  // NOLINT: POSIX wants it declared here

namespace tenon::conformance {
namespace {

void open(Bench& bench) {
  bench.doing("opening the file");
  try {
    const auto registry = harness::Registry::opened(bench.subject().plugin);
    if (registry.all().empty()) bench.fail("it holds no component", "name one by TENON_COMPONENT");
  } catch (const Error& error) {
    bench.fail(fmt::format("it cannot be opened: {}", error.what()), "see `tenon plugins doctor`");
  }
}

constexpr Case kOpen{"load.open", "The file opens with all symbols bound, and says what it holds.", "plugin", &open};
TENON_CASE(kOpen);

/// How the processor rounds, traps, and takes numbers near zero; the flags of past operations do not count.
uint64_t floating_point() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & ~0x3fU;
#elif defined(__aarch64__)
  return __builtin_aarch64_get_fpcr();
#endif
}

/// What a library that is merely opened must leave alone.
struct Promise {
  const char* broken;
  std::function<std::string()> now;
};

std::vector<Promise> promises() {
  return {
      {"a thread is started",
       [] {
         const std::filesystem::directory_iterator tasks("/proc/self/task");
         return fmt::format("{}", std::distance(tasks, std::filesystem::directory_iterator()));
       }},
      {"a process is started", [] { return ::waitpid(-1, nullptr, WNOHANG) < 0 ? "none" : "some"; }},
      {"the environment changes",
       [] {
         std::string all;
         for (char** each = environ; *each != nullptr; ++each) all += std::string(*each) + "\n";
         return all;
       }},
      {"signal handlers change",
       [] {
         std::string all;
         for (int signal = 1; signal < 32; ++signal) {
           struct sigaction action {};
           if (sigaction(signal, nullptr, &action) != 0) continue;
           all += fmt::format("{}:{} ", signal, reinterpret_cast<std::size_t>(action.sa_handler));
         }
         return all;
       }},
      {"signals are blocked or let through",
       [] {
         sigset_t blocked;
         ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
         std::string all;
         for (int signal = 1; signal < 32; ++signal) all += sigismember(&blocked, signal) == 1 ? '1' : '0';
         return all;
       }},
      {"the processor rounds, traps or takes numbers near zero otherwise (-ffast-math, -Ofast)",
       [] { return fmt::format("{}", floating_point()); }},
      {"the locale changes",
       [] {
         const char* const name = std::setlocale(LC_ALL, nullptr);
         return fmt::format("{} {}", name == nullptr ? "" : name, std::locale().name());
       }},
      {"the current folder changes", [] { return std::filesystem::current_path().string(); }},
      {"the permissions of new files change",
       [] {
         const mode_t mask = ::umask(0);
         ::umask(mask);
         return fmt::format("{}", mask);
       }},
      {"a timer is set that ends the process",
       [] {
         itimerval timer{};
         ::getitimer(ITIMER_REAL, &timer);
         return timer.it_value.tv_sec + timer.it_value.tv_usec == 0 ? "none" : "some";
       }},
      {"it writes to standard output or standard error",
       [] {
         (void)std::fflush(nullptr);
         return fmt::format("{}", ::lseek(STDOUT_FILENO, 0, SEEK_CUR));  // run_case sends both to one file
       }},
  };
}

void quiet(Bench& bench) {
  const std::vector<Promise> all = promises();
  std::vector<std::string> before;
  before.reserve(all.size());
  for (const Promise& each : all) before.push_back(each.now());
  bench.doing("opening the file");
  (void)harness::Registry::opened(bench.subject().plugin);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].now() == before[i]) continue;
    bench.fail(fmt::format("{} when it is opened", all[i].broken),
               "do nothing at static initialisation, nor link to a library that does: a plugin is opened to be looked "
               "at, too");
  }
}

constexpr Case kQuiet{"load.quiet",
                      "Opening starts no thread or process, writes nothing, and changes nothing that the whole process "
                      "has once, such as its environment, locale or signal handlers.",
                      "plugin", &quiet};
TENON_CASE(kQuiet);

}  // namespace
}  // namespace tenon::conformance
