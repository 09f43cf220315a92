// The climb.
#include <engine/data/worker_tuner.hpp>

#include <algorithm>
#include <cmath>

namespace tenon::engine {
namespace {

constexpr double kGain = 1.02;   // samples a second that more threads must bring, as a ratio
constexpr double kLoss = 0.985;  // and that fewer threads may cost
constexpr double kWaits = 0.02;  // share of time from which on the consumer waits
constexpr double kIdle = 0.01;   // and up to which it does not
constexpr double kMostlyWaits = 0.3;
constexpr double kKeepsCoresBusy = 0.8;  // share of a task that is spent on a core
constexpr double kCheapBatch = 200e-6;   // s: without threads it may be made as fast
constexpr double kTrifle = 20e-6;        // s: handing a batch over costs as much
constexpr int kLongestPatience = 64;

double share(double part, double whole) noexcept { return whole > 0 ? part / whole : 0; }

}  // namespace

WorkerTuner::WorkerTuner(int cores, int most, bool may_do_without)
    : cores_(std::max(cores, 1)),
      most_(std::max(most, 1)),
      may_do_without_(may_do_without),
      threads_(std::min(cores_, most_)) {}

void WorkerTuner::observe(const LoaderWindow& window) {
  const double rate = share(static_cast<double>(window.tasks), window.seconds);
  if (trial_ && !judge(rate)) return;
  up_.windows = std::max(up_.windows - 1, 0);
  down_.windows = std::max(down_.windows - 1, 0);
  // The first batch is worth all cores; from then on one is the trainer's, unless it waits.
  const bool leaves_core = first_ && threads_ == cores_ && share(window.waited, window.seconds) < kMostlyWaits / 3;
  first_ = false;
  if (leaves_core) {
    threads_ = std::max(threads_ - 1, 1);
    return;
  }
  const int next = proposal(window);
  if (next == threads_) {
    settled_ = true;
    return;
  }
  trial_ = Trial{threads_, rate, next > threads_};
  threads_ = next;
}

/// Whether the trial may stand; if not, things are as before.
bool WorkerTuner::judge(double rate) noexcept {
  const Trial trial = *trial_;
  trial_.reset();
  Patience& patience = trial.up ? up_ : down_;
  if (rate >= trial.rate * (trial.up ? kGain : kLoss)) {
    patience = {};
    return true;
  }
  threads_ = trial.from;
  patience = {patience.next, std::min(2 * patience.next, kLongestPatience)};
  settled_ = true;
  return false;
}

int WorkerTuner::proposal(const LoaderWindow& window) const noexcept {
  const double waits = share(window.waited, window.seconds);
  if (threads_ == 0) {
    const bool trifle = window.wall < kTrifle * static_cast<double>(window.batches);
    if (trifle || waits < kWaits || up_.windows > 0) return 0;
    // One thread alone brings nothing to a consumer that does nothing but wait.
    return waits > kMostlyWaits ? std::min(std::max(cores_, 2), most_) : std::max(std::min(cores_, most_) - 1, 1);
  }
  const bool is_cheap = window.wall < kCheapBatch * static_cast<double>(window.batches);
  if (may_do_without_ && is_cheap && down_.windows == 0) return 0;
  if (waits > kWaits && up_.windows == 0) return more(window);
  if (waits < kIdle && down_.windows == 0) return fewer(window);
  return threads_;
}

int WorkerTuner::more(const LoaderWindow& window) const noexcept {
  const int cores = std::min(cores_, most_);
  if (threads_ < cores) return share(window.waited, window.seconds) > kMostlyWaits ? cores : threads_ + 1;
  if (share(window.cpu, window.wall) > kKeepsCoresBusy) return threads_;
  return std::min(2 * threads_, most_);
}

/// As many as are busy, and a fifth more.
int WorkerTuner::fewer(const LoaderWindow& window) const noexcept {
  const auto needed = static_cast<int>(std::ceil(1.2 * share(window.wall, window.seconds)));
  const bool takes_all_cores = threads_ == cores_ && share(window.cpu, window.wall) > kKeepsCoresBusy;
  return std::clamp(takes_all_cores ? std::min(needed, threads_ - 1) : needed, 1, threads_);
}

}  // namespace tenon::engine
