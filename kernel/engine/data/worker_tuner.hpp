// How many threads a loader takes when it may choose: by what they were seen to bring.
#pragma once

#include <cstdint>
#include <optional>

namespace tenon::engine {

/// What was measured over a stretch of batches with one number of threads.
struct LoaderWindow {
  int64_t batches = 0;
  int64_t tasks = 0;   ///< Samples made.
  double seconds = 0;  ///< Of wall time.
  double waited = 0;   ///< Of it, those that the consumer spent in the loader.
  double wall = 0;     ///< Seconds between the beginnings and ends of tasks, over all threads.
  double cpu = 0;      ///< Of those, on a core; without threads not known.
};

/// Climbs to the number of threads with the most samples a second, and from there down to the fewest that give as many.
/// Beyond the cores it goes only where samples wait for something else than a core. A step that brought nothing is
/// taken back, and is not tried again for a while, which grows with each failure. Nothing but time depends on it.
class WorkerTuner {
 public:
  /// For `cores` cores; never more than `most` threads. `may_do_without`: also none, where that is as fast.
  WorkerTuner(int cores, int most, bool may_do_without);

  /// Threads to take now, until the next window is over; 0: batches are made by the consumer.
  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// The first batch took no longer than it takes to start threads: none to begin with.
  void begin_without_threads() noexcept { threads_ = 0; }

  /// Takes a window with threads() threads into account.
  void observe(const LoaderWindow& window);

  /// Whether a number was settled on at least once.
  [[nodiscard]] bool settled() const noexcept { return settled_; }

 private:
  /// A direction that brought nothing.
  struct Patience {
    int windows = 0;  // until it is tried again
    int next = 4;     // so many after the next failure
  };
  struct Trial {
    int from = 0;
    double rate = 0;
    bool up = false;
  };

  [[nodiscard]] int proposal(const LoaderWindow& window) const noexcept;
  [[nodiscard]] int more(const LoaderWindow& window) const noexcept;
  [[nodiscard]] int fewer(const LoaderWindow& window) const noexcept;
  bool judge(double rate) noexcept;

  int cores_;
  int most_;
  bool may_do_without_;
  int threads_;
  bool first_ = true;
  bool settled_ = false;
  std::optional<Trial> trial_;
  Patience up_;
  Patience down_;
};

}  // namespace tenon::engine
