// Threads that work off jobs of many small tasks; the jobs come back in the order in which they were handed in.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <core/process/breadcrumb.hpp>

namespace tenon::engine {

/// A number of tasks that may run at the same time. Owns or outlives all that they need.
class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;

  /// How many; constant.
  [[nodiscard]] virtual int64_t tasks() const noexcept = 0;

  /// Runs task `task`, each once, begun in ascending order, on worker 0 ≤ `worker` < TaskPool::workers(). [loader]
  virtual void run(int64_t task, int worker) noexcept = 0;

 private:
  friend class TaskPool;
  int64_t count_ = 0;  // of tasks
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> done_{0};

  [[nodiscard]] int64_t left() const noexcept { return count_ - next_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool finished() const noexcept { return done_.load(std::memory_order_acquire) == count_; }
};

/// Threads whose number may change at any time. Free threads take the next tasks of the oldest job that has some left,
/// cheap ones several at once, so that a slow task holds up its own job only. Without threads the caller runs the
/// tasks. All calls from one caller's thread.
class TaskPool {
 public:
  /// The threads that there may be, and what each calls first.
  struct Options {
    int threads = 0;  ///< To begin with.
    int most = 0;     ///< More than this are never asked for; at least `threads`.
    std::function<void()> on_thread_start = {};

    /// Keeps alive what tasks use. With it the end waits half a second for the tasks that run and then gives their
    /// threads up, which hold on to it until they return; without it the end waits for as long as they take.
    std::shared_ptr<const void> keep = {};
  };

  /// What was worked off so far.
  struct Work {
    int64_t tasks = 0;
    std::chrono::nanoseconds wall{0};  ///< Between the beginnings and ends of tasks.
    std::chrono::nanoseconds cpu{0};   ///< Of that, on a core; not known, and 0, for tasks of the caller.
  };

  /// Starts the threads. \throws std::system_error when the system gives no thread; those begun are gone then.
  explicit TaskPool(Options options);
  explicit TaskPool(int threads, std::function<void()> on_thread_start = {})
      : TaskPool(Options{threads, threads, std::move(on_thread_start), {}}) {}

  /// Drops what has not begun, waits for the tasks that run (see Options::keep), joins.
  ~TaskPool();

  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Number of different `worker` values that a task may see: one for each possible thread, the last for the caller.
  [[nodiscard]] int workers() const noexcept { return most_ + 1; }

  /// Threads that take tasks.
  [[nodiscard]] int threads() const noexcept;

  /// From now on so many threads take tasks. More are started, or woken; of fewer the rest sleeps once its task is
  /// done; with none all of them end. Where the system gives no more threads it stays at those that there are.
  void set_threads(int count);

  void submit(std::shared_ptr<Job> job);

  /// Likewise, but threads that sleep stay asleep until wake(): for one that has yet to take a job.
  void submit_quietly(std::shared_ptr<Job> job);
  void wake();

  /// Jobs handed in and not taken.
  [[nodiscard]] int64_t pending() const noexcept;

  /// Waits for the oldest job and takes it out; all that its tasks wrote is visible. Requires pending() > 0.
  /// \throws Error (kConfig) with the words of a hook that failed.
  [[nodiscard]] std::shared_ptr<Job> take();

  /// Whether the oldest job is finished. False when there is none.
  [[nodiscard]] bool ready() const noexcept;

  /// Waits no longer than `limit`, apart from tasks that the caller runs for want of threads. True when take() will not
  /// wait. Behind a wait that was shorter than a sleep takes, it looks for a moment before it sleeps.
  [[nodiscard]] bool wait(std::chrono::microseconds limit);

  /// Drops all jobs. Tasks that run go on to their end, and keep their job alive until then.
  void clear();

  [[nodiscard]] Work work() const noexcept;

  /// A worker that was on one and the same task at all of these calls for `limit` or longer. Between two calls no more
  /// than a second counts, so that a process that was stopped meanwhile has not been slow: a caller that waits asks
  /// more often.
  [[nodiscard]] std::optional<int> overdue(std::chrono::nanoseconds limit);

  /// The call that a worker is in, as crash reports would tell it. May be out of date by the time that it is read.
  [[nodiscard]] core::Breadcrumb call_of(int worker) const noexcept;

  /// Drops all jobs and ends the threads; those that are on a task longer than `grace` are given up. Nothing can be
  /// handed in after this. Needs Options::keep.
  void abandon(std::chrono::milliseconds grace);

  /// Ends the threads as the destructor does. Nothing can be handed in after this.
  void end() noexcept;

  /// Whether threads were given up: what their tasks use must outlive the process, or be kept by Options::keep.
  [[nodiscard]] bool abandoned() const noexcept { return abandoned_; }

 private:
  struct State;
  struct Watched {
    int64_t turn = 0;
    std::chrono::nanoseconds since{0};
  };

  void start_thread(int worker);
  void stop(std::optional<std::chrono::milliseconds> grace) noexcept;
  static void run_thread(const std::shared_ptr<State>& shared, int worker) noexcept;
  static bool drain(State& state, Job& job, int worker) noexcept;

  int most_;
  std::shared_ptr<State> state_;
  std::vector<Watched> watched_;
  std::chrono::steady_clock::time_point looked_{};  // when overdue() was called last
  std::chrono::nanoseconds watching_{0};            // what counted by then
  bool abandoned_ = false;
  bool was_short_ = false;  // the last wait
};

}  // namespace tenon::engine
