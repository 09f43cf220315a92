// One thread a rank, one failure for all.
#include <engine/ranks.hpp>

#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <core/plugin/loader.hpp>
#include <core/process/alternate_stack.hpp>
#include <engine/components.hpp>
#include <engine/device.hpp>
#include <engine/engine.hpp>
#include <engine/guarded.hpp>

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
    const core::AlternateStack stack("rank", static_cast<int>(rank));
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

bool run_in_process(const core::Graph& graph, const core::Resolved& resolved, const core::Catalogue& catalogue,
                    const std::function<std::function<void()>(int64_t rank, Collectives& ranks)>& make) {
  const core::Node* const backend = graph.find(graph.run.distributed);
  if (backend == nullptr || !backend->info->has_ability(InProcess::kAbility)) return false;
  core::Loader loader(catalogue);
  core::ComponentHandle handle;
  try {
    handle = loader.create(backend->use(), backend->with, backend->name);
  } catch (...) {
    throw PlacedError(core::diagnose(resolved, *backend, current_error(ErrorCode::kPlugin)));
  }
  InProcess& team = *static_cast<InProcess*>(handle.get().ability(InProcess::kAbility));
  std::deque<GuardedCollectives> collectives;
  std::vector<std::function<void()>> bodies;
  for (int64_t rank = 0; rank < team.ranks(); ++rank) {
    bodies.push_back(make(rank, collectives.emplace_back(team.rank(rank), handle.callee())));
  }
  run_ranks(team, [&](int64_t rank) {
    prepare_thread(graph);
    bodies[static_cast<std::size_t>(rank)]();
  });
  return true;
}

}  // namespace tenon::engine
