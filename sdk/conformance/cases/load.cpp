// The plugin's file, opened for the first time.
#include <conformance/case.hpp>

#include <csignal>
#include <filesystem>
#include <string>

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

/// What a library that is merely opened must leave alone.
struct Process {
  std::string environment;
  std::string handlers;
  std::ptrdiff_t threads = 0;

  static Process now() {
    Process process;
    for (char** each = environ; *each != nullptr; ++each) process.environment += std::string(*each) + "\n";
    for (int signal = 1; signal < 32; ++signal) {
      struct sigaction action {};
      if (sigaction(signal, nullptr, &action) != 0) continue;
      process.handlers += fmt::format("{}:{} ", signal, reinterpret_cast<std::size_t>(action.sa_handler));
    }
    process.threads =
        std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
    return process;
  }
};

void quiet(Bench& bench) {
  const Process before = Process::now();
  bench.doing("opening the file");
  (void)harness::Registry::opened(bench.subject().plugin);
  const Process after = Process::now();
  const char* const cure = "do nothing at static initialisation: a plugin is opened to be looked at, too";
  if (after.threads != before.threads) bench.fail("a thread is started when it is opened", cure);
  if (after.environment != before.environment) bench.fail("the environment changes when it is opened", cure);
  if (after.handlers != before.handlers) bench.fail("signal handlers change when it is opened", cure);
}

constexpr Case kQuiet{"load.quiet", "Opening starts no thread and changes neither environment nor signal handlers.",
                      "plugin", &quiet};
TENON_CASE(kQuiet);

}  // namespace
}  // namespace tenon::conformance
