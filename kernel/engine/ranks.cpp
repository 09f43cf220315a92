// One thread a rank, one failure for all.
#include <engine/ranks.hpp>

#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <engine/components.hpp>

namespace tenon::engine {
namespace {

/// The first exception of any thread.
class FirstFailure {
 public:
  /// Called in a handler.
  void note(InProcess& team, int64_t rank) {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = std::current_exception();
    team.abandon("rank " + std::to_string(rank) + " failed: " + current_error(ErrorCode::kPlugin).what());
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void run_ranks(InProcess& team, const std::function<void(int64_t rank)>& body) {
  FirstFailure failure;
  const auto guarded = [&](int64_t rank) {
    try {
      body(rank);
    } catch (...) {
      failure.note(team, rank);
    }
  };
  std::vector<std::jthread> threads;
  try {
    for (int64_t rank = 1; rank < team.ranks(); ++rank) threads.emplace_back(guarded, rank);
    guarded(0);
  } catch (const std::system_error&) {
    failure.note(team, static_cast<int64_t>(threads.size()) + 1);
  }
  threads.clear();  // joins
  failure.rethrow();
}

}  // namespace tenon::engine
