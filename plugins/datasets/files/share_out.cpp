// Numbers are taken one after the other, so all below one that was taken were taken too.
#include <files/share_out.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <files/cores.hpp>

namespace tenon::datasets {

void share_out(std::size_t count, const std::function<void(std::size_t)>& work) {
  constexpr int64_t kMostThreads = 32;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t failed = count;
  std::exception_ptr error;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          error = std::current_exception();
        }
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    const auto threads = static_cast<std::size_t>(std::min(usable_cores(), kMostThreads));
    try {
      for (std::size_t i = 1; i < std::min(count, threads); ++i) helpers.emplace_back(run);
    } catch (const std::system_error&) {
      // As many as the system gives do the work.
    }
    run();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace tenon::datasets
