// Threads that work off jobs of many small tasks; the jobs come back in the order in which they were handed in.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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
};

/// A fixed number of threads. Free threads take the next task of the oldest job that has one left, so that a slow task
/// holds up its own job only. submit, take, wait and clear belong to one caller's thread.
class TaskPool {
 public:
  /// Starts the threads; each calls the hook first. With none, take() runs the tasks itself.
  /// \throws std::system_error when the system gives no thread; those begun are gone then.
  explicit TaskPool(int threads, std::function<void()> on_thread_start = {});

  /// Drops what has not begun, waits for the tasks that run, joins.
  ~TaskPool();

  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Number of different `worker` values that a task may see: the threads, or the caller.
  [[nodiscard]] int workers() const noexcept { return threads_.empty() ? 1 : static_cast<int>(threads_.size()); }

  void submit(std::shared_ptr<Job> job);

  /// Jobs handed in and not taken.
  [[nodiscard]] int64_t pending() const noexcept { return static_cast<int64_t>(entries_.size()); }

  /// Waits for the oldest job and takes it out; all that its tasks wrote is visible. Requires pending() > 0.
  /// \throws Error (kConfig) with the words of a hook that failed.
  [[nodiscard]] std::shared_ptr<Job> take();

  /// Waits no longer than `limit`. True when take() will not wait for a thread.
  [[nodiscard]] bool wait(std::chrono::milliseconds limit);

  /// Drops all jobs. Tasks that run go on to their end, and keep their job alive until then.
  void clear();

 private:
  struct Entry {
    std::shared_ptr<Job> job;
    int64_t tasks = 0;
    std::atomic<int64_t> next{0};
    std::atomic<int64_t> done{0};

    [[nodiscard]] bool open() const noexcept { return next.load(std::memory_order_relaxed) < tasks; }
    [[nodiscard]] bool finished() const noexcept { return done.load(std::memory_order_acquire) == tasks; }
  };

  static bool drain(Entry& entry, int worker) noexcept;
  [[nodiscard]] std::shared_ptr<Entry> open_entry() const;
  [[nodiscard]] bool settled() const;
  void work(int worker) noexcept;
  void fail(const std::string& cause);
  void stop() noexcept;

  std::function<void()> on_thread_start_;
  std::mutex mutex_;
  std::condition_variable work_;  // there is an open entry, or the end
  std::condition_variable done_;  // an entry is finished, or a thread failed
  std::deque<std::shared_ptr<Entry>> entries_;
  std::string failure_;  // of a hook
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tenon::engine
