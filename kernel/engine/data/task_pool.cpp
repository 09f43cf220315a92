// The threads, the queue of jobs and the consumer's wait.
#include <engine/data/task_pool.hpp>

#include <exception>
#include <utility>

#include <core/process/alternate_stack.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {

TaskPool::TaskPool(int threads, std::function<void()> on_thread_start) : on_thread_start_(std::move(on_thread_start)) {
  threads_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int worker = 0; worker < threads; ++worker) {
      threads_.emplace_back([this, worker] { work(worker); });
    }
  } catch (...) {
    stop();
    throw;
  }
}

TaskPool::~TaskPool() { stop(); }

void TaskPool::stop() noexcept {
  clear();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void TaskPool::submit(std::shared_ptr<Job> job) {
  auto entry = std::make_shared<Entry>();
  entry->tasks = job->tasks();
  entry->job = std::move(job);
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }
  work_.notify_all();
}

std::shared_ptr<Job> TaskPool::take() {
  std::unique_lock lock(mutex_);
  if (threads_.empty()) {
    drain(*entries_.front(), 0);
  } else {
    done_.wait(lock, [this] { return settled(); });
    if (!failure_.empty()) {
      throw Error(ErrorCode::kConfig, failure_);
    }
  }
  std::shared_ptr<Job> job = std::move(entries_.front()->job);
  entries_.pop_front();
  return job;
}

bool TaskPool::wait(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return threads_.empty() || done_.wait_for(lock, limit, [this] { return settled(); });
}

void TaskPool::clear() {
  std::deque<std::shared_ptr<Entry>> dropped;
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Entry>& entry : entries_) {
    entry->next.store(entry->tasks, std::memory_order_relaxed);  // nobody takes another task of it
  }
  dropped.swap(entries_);
}

std::shared_ptr<TaskPool::Entry> TaskPool::open_entry() const {
  for (const std::shared_ptr<Entry>& entry : entries_) {
    if (entry->open()) {
      return entry;
    }
  }
  return nullptr;
}

bool TaskPool::settled() const { return !failure_.empty() || entries_.empty() || entries_.front()->finished(); }

// True when this call finished the job's last task.
bool TaskPool::drain(Entry& entry, int worker) noexcept {
  bool last = false;
  for (int64_t task = 0; (task = entry.next.fetch_add(1, std::memory_order_relaxed)) < entry.tasks;) {
    entry.job->run(task, worker);
    last = entry.done.fetch_add(1, std::memory_order_acq_rel) + 1 == entry.tasks;
  }
  return last;
}

// As text: an exception object that threads share is freed by whichever lets go last.
void TaskPool::fail(const std::string& cause) {
  const std::lock_guard lock(mutex_);
  failure_ = "a loader thread cannot be set up: " + cause;
  done_.notify_all();
}

void TaskPool::work(int worker) noexcept {
  const core::AlternateStack stack("loader", worker);
  try {
    if (on_thread_start_) {
      on_thread_start_();
    }
  } catch (const std::exception& error) {
    fail(error.what());
    return;
  } catch (...) {
    fail("an unknown exception");
    return;
  }
  std::unique_lock lock(mutex_);
  for (;;) {
    std::shared_ptr<Entry> entry;
    work_.wait(lock, [&] { return stopping_ || (entry = open_entry()) != nullptr; });
    if (stopping_) {
      return;
    }
    lock.unlock();
    const bool finished = drain(*entry, worker);
    entry.reset();  // may be the last owner of a dropped job
    lock.lock();
    if (finished) {
      done_.notify_all();
    }
  }
}

}  // namespace tenon::engine
