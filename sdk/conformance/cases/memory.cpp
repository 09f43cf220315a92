// What is left behind after many lives.
#include <conformance/case.hpp>

#include <malloc.h>

#include <filesystem>

#include <fmt/format.h>

namespace tenon::conformance {
namespace {

constexpr int kCycles = 200;

/// Growth that is no leak: libraries' caches that fill up late.
constexpr double kBytesPerCycle = 64;

std::size_t heap() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::ptrdiff_t entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

void cycles(Bench& bench) {
  const Subject& subject = bench.subject();
  const Trial& trial = bench.trial();
  const auto live = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const std::unique_ptr<Use> use = use_of(subject, trial);
      use->prepare();
      Seen seen;
      use->go(0, 1, seen);
    }
  };
  bench.doing(fmt::format("creation, use and destruction, {} times", kCycles));
  live(kCycles / 4);  // what is made once and kept
  const std::size_t before = heap();
  const std::ptrdiff_t files = entries("/proc/self/fd");
  live(kCycles);
  const std::size_t after = heap();
  const double growth = (static_cast<double>(after) - static_cast<double>(before)) / kCycles;
  if (growth > kBytesPerCycle) {
    bench.fail(
        fmt::format("each creation, use and destruction leaves {:.0f} bytes behind, over {} of them", growth, kCycles),
        "free what it owns in its destructor: hold memory in containers and smart pointers", trial.params);
  }
  if (entries("/proc/self/fd") > files) {
    bench.fail(fmt::format("{} open files are left after {} lives", entries("/proc/self/fd") - files, kCycles),
               "close files in the destructor", trial.params);
  }
  if (entries("/proc/self/task") > 1) {
    bench.fail(fmt::format("{} threads are left", entries("/proc/self/task") - 1), "join threads in the destructor",
               trial.params);
  }
}

constexpr Case kCycle{"memory.cycles",
                      "200 times created, used and destroyed, it leaves no memory, open file or thread behind.", "",
                      &cycles};
TENON_CASE(kCycle);

void construction(Bench& bench) {
  const Json params = bench.params();
  const std::ptrdiff_t files = entries("/proc/self/fd");
  bench.doing("creation alone");
  const auto made = bench.subject().make(params);
  if (entries("/proc/self/fd") > files) {
    bench.fail("the constructor opens files", "open files in open(), attach() or at the first use", params);
  }
  if (entries("/proc/self/task") > 1) {
    bench.fail("the constructor starts threads", "start threads at the first use: it may be made for checking alone",
               params);
  }
}

constexpr Case kConstruction{"memory.construction", "Construction opens no file and starts no thread.", "",
                             &construction};
TENON_CASE(kConstruction);

}  // namespace
}  // namespace tenon::conformance
