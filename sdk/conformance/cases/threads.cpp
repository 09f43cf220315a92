// Eight loader threads at once.
#include <conformance/case.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <latch>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/error.hpp>

namespace tenon::conformance {
namespace {

constexpr int kThreads = 8;
constexpr int64_t kRepeats = 200;  // at least; more where they are over soon, so that threads meet often enough
constexpr std::chrono::milliseconds kAtLeast{300};
constexpr int64_t kSteps = 12;

void concurrent(Bench& bench) {
  const Trial& trial = bench.trial();
  const std::unique_ptr<Use> use = use_of(bench.subject(), trial);
  use->prepare();
  std::vector<Seen> expected(kSteps);
  for (int64_t i = 0; i < kSteps; ++i) use->go(i, i + 1, expected[static_cast<std::size_t>(i)]);
  bench.doing(fmt::format("use on {} threads at once, at least {} times each", kThreads, kRepeats));
  std::mutex mutex;
  std::string found;
  std::atomic<bool> over{false};
  std::latch ready(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        ready.arrive_and_wait();
        const auto end = std::chrono::steady_clock::now() + kAtLeast;
        for (int64_t repeat = 0; !over && (repeat < kRepeats || std::chrono::steady_clock::now() < end); ++repeat) {
          const int64_t step = (repeat + 5 * thread) % kSteps;
          Seen seen;
          std::string what;
          try {
            use->go(step, step + 1, seen);
            what = expected[static_cast<std::size_t>(step)].difference(seen);
          } catch (const std::exception& error) {
            what = fmt::format("it throws: {}", error.what());
          } catch (...) {
            what = "it throws an exception of a foreign type";
          }
          if (what.empty()) continue;
          over = true;
          const std::lock_guard<std::mutex> lock(mutex);
          if (found.empty()) found = what;
        }
      });
    }
  }
  if (found.empty()) return;
  bench.fail(
      fmt::format("on {} threads it gives other results than on one: {}", kThreads, found),
      "apply() and read() are const and concurrent: keep nothing between calls, and draw from the given Rng alone",
      trial.params);
}

constexpr Case kConcurrent{"threads.concurrent",
                           "On 8 threads with 200 calls or more each it gives what it gives on one thread.",
                           "dataset|transform", &concurrent};
TENON_CASE(kConcurrent);

}  // namespace
}  // namespace tenon::conformance
