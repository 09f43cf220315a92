// The threads, the queue of jobs and the consumer's wait.
#include <engine/data/task_pool.hpp>

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <core/process/alternate_stack.hpp>
#include <engine/data/machine.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kChunk = 50'000;                      // ns: tasks are taken together until they are worth as much
constexpr int64_t kWorthAWake = 20'000;                 // ns of work that a further thread should find
constexpr std::chrono::microseconds kWorthLooking{50};  // a sleep and the way back may take as long
constexpr std::chrono::microseconds kShort{100};        // a wait that might have been one of looking, but for a sleep
constexpr std::chrono::milliseconds kGrace{500};
constexpr std::chrono::nanoseconds kMostBetweenLooks{1'000'000'000};

int64_t thread_cpu() noexcept {
  timespec time{};
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 ? int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec : 0;
}

/// Tells a core that its thread does nothing but look.
void pause_core() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

int64_t since(Clock::time_point begin) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

}  // namespace

/// Shared with the threads, which may outlive the owner.
struct TaskPool::State {
  enum class Life : uint8_t { kNone, kAlive, kGone };

  struct Thread {
    std::thread thread;
    std::condition_variable wake;
    bool asleep = false;
    Life life = Life::kNone;
    std::atomic<int64_t> turn{0};  // odd while a task runs, another number for each
    std::atomic<const core::Breadcrumb*> crumb{nullptr};
  };

  State(int most, std::function<void()> hook, std::shared_ptr<const void> kept)
      : on_thread_start(std::move(hook)), keep(std::move(kept)), threads(static_cast<std::size_t>(most) + 1) {
    idle.reserve(threads.size());
  }

  std::function<void()> on_thread_start;
  std::shared_ptr<const void> keep;
  std::mutex mutex;
  std::condition_variable changed;  // the oldest job is finished, a thread failed or has gone
  std::deque<std::shared_ptr<Job>> jobs;
  std::deque<Thread> threads;  // the last stands for the caller
  std::vector<int> idle;       // threads that sleep and may be woken, the most recent one last
  std::string failure;         // of a hook
  bool stopping = false;
  std::atomic<int> active{0};
  std::atomic<int64_t> task_cost{0};  // ns: a moving mean; 0: not known yet
  std::atomic<int64_t> done_tasks{0};
  std::atomic<int64_t> done_wall{0};
  std::atomic<int64_t> done_cpu{0};

  [[nodiscard]] Thread& at(int worker) noexcept { return threads[static_cast<std::size_t>(worker)]; }
  [[nodiscard]] bool ends() const noexcept { return stopping || active == 0; }

  /// For the caller's thread, which alone changes the list of jobs, without the lock too.
  [[nodiscard]] bool first_finished() const noexcept { return !jobs.empty() && jobs.front()->finished(); }

  [[nodiscard]] bool settled() const noexcept { return !failure.empty() || jobs.empty() || jobs.front()->finished(); }

  [[nodiscard]] std::shared_ptr<Job> open_job() const noexcept {
    const auto open = std::find_if(jobs.begin(), jobs.end(), [](const auto& job) { return job->left() > 0; });
    return open == jobs.end() ? nullptr : *open;
  }

  /// Tasks to take at once: few enough that all threads have some of the job.
  [[nodiscard]] int64_t chunk(const Job& job) const noexcept {
    const int64_t cost = task_cost.load(std::memory_order_relaxed);
    const int64_t share = job.count_ / (4 * std::max(active.load(std::memory_order_relaxed), 1));
    return cost <= 0 ? 1 : std::clamp<int64_t>(kChunk / cost, 1, std::max<int64_t>(share, 1));
  }

  void rouse(int worker) noexcept {
    at(worker).asleep = false;
    at(worker).wake.notify_one();
  }

  /// A thread to notify once the lock is gone, so that it does not wake up only to wait for it; or nothing.
  [[nodiscard]] std::condition_variable* pick_one() noexcept {
    if (idle.empty()) return nullptr;
    Thread& picked = at(idle.back());
    idle.pop_back();
    picked.asleep = false;
    return &picked.wake;
  }

  /// One more to notify where more is left than the thread that asks is about to take. So threads come one by one, and
  /// no more of them than find something.
  [[nodiscard]] std::condition_variable* pick_for_the_rest(const Job& taken) noexcept {
    if (idle.empty()) return nullptr;
    int64_t left = -chunk(taken);
    for (const auto& job : jobs) left += std::max<int64_t>(job->left(), 0);
    const int64_t cost = task_cost.load(std::memory_order_relaxed);
    return left > 0 && (cost <= 0 || left > kWorthAWake / cost) ? pick_one() : nullptr;
  }

  void account(int64_t tasks, int64_t wall, int64_t cpu) noexcept {
    const int64_t mean = task_cost.load(std::memory_order_relaxed);
    const int64_t each = std::max<int64_t>(wall / tasks, 1);
    task_cost.store(mean == 0 ? each : std::max<int64_t>(mean + (each - mean) / 8, 1), std::memory_order_relaxed);
    done_tasks.fetch_add(tasks, std::memory_order_relaxed);
    done_wall.fetch_add(wall, std::memory_order_relaxed);
    done_cpu.fetch_add(cpu, std::memory_order_relaxed);
  }
};

TaskPool::TaskPool(Options options)
    : most_(std::max(options.most, options.threads)),
      state_(std::make_shared<State>(most_, std::move(options.on_thread_start), std::move(options.keep))),
      watched_(static_cast<std::size_t>(most_)) {
  state_->active = options.threads;
  try {
    for (int worker = 0; worker < options.threads; ++worker) start_thread(worker);
  } catch (...) {
    stop({});
    throw;
  }
}

TaskPool::~TaskPool() { end(); }

void TaskPool::end() noexcept { stop(state_->keep == nullptr ? std::nullopt : std::optional(kGrace)); }

void TaskPool::start_thread(int worker) {
  State::Thread& thread = state_->at(worker);
  if (thread.thread.joinable()) thread.thread.join();  // it has gone
  thread.life = State::Life::kAlive;
  try {
    thread.thread = std::thread([state = state_, worker] { run_thread(state, worker); });
  } catch (...) {
    thread.life = State::Life::kNone;
    throw;
  }
}

int TaskPool::threads() const noexcept { return state_->active; }

void TaskPool::set_threads(int count) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  count = std::clamp(count, 0, most_);
  state.active = count;
  state.idle.clear();
  for (int worker = 0; worker < most_; ++worker) {
    State::Thread& thread = state.at(worker);
    if (thread.life == State::Life::kAlive) {
      if (worker < count || count == 0) state.rouse(worker);
    } else if (worker < count) {
      try {
        start_thread(worker);
      } catch (const std::system_error&) {
        state.active = worker;
        return;
      }
    }
  }
}

void TaskPool::stop(std::optional<std::chrono::milliseconds> grace) noexcept {
  clear();
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (std::exchange(state.stopping, true)) return;
  for (int worker = 0; worker < most_; ++worker) state.rouse(worker);
  const auto gone = [&] {
    return std::none_of(state.threads.begin(), state.threads.end(),
                        [](const State::Thread& thread) { return thread.life == State::Life::kAlive; });
  };
  if (!grace) {
    state.changed.wait(lock, gone);
  } else if (!state.changed.wait_for(lock, *grace, gone)) {
    abandoned_ = true;
  }
  std::vector<std::thread> ended;
  for (State::Thread& thread : state.threads) {
    if (!thread.thread.joinable()) continue;
    if (thread.life == State::Life::kAlive) {
      thread.thread.detach();
    } else {
      ended.push_back(std::move(thread.thread));
    }
  }
  lock.unlock();
  for (std::thread& thread : ended) thread.join();
}

void TaskPool::abandon(std::chrono::milliseconds grace) { stop(grace); }

void TaskPool::submit(std::shared_ptr<Job> job) {
  submit_quietly(std::move(job));
  wake();
}

void TaskPool::submit_quietly(std::shared_ptr<Job> job) {
  job->count_ = job->tasks();
  const std::lock_guard lock(state_->mutex);
  state_->jobs.push_back(std::move(job));
}

/// One is enough: it wakes the next where there is work for two.
void TaskPool::wake() {
  std::unique_lock lock(state_->mutex);
  std::condition_variable* const picked = state_->open_job() == nullptr ? nullptr : state_->pick_one();
  lock.unlock();
  if (picked != nullptr) picked->notify_one();
}

int64_t TaskPool::pending() const noexcept {
  return static_cast<int64_t>(state_->jobs.size());  // changed by the caller's thread alone
}

std::shared_ptr<Job> TaskPool::take() {
  while (!ready() && !wait(std::chrono::seconds(1))) {
  }
  const std::lock_guard lock(state_->mutex);
  if (!state_->failure.empty()) throw Error(ErrorCode::kConfig, state_->failure);
  std::shared_ptr<Job> job = std::move(state_->jobs.front());
  state_->jobs.pop_front();
  return job;
}

bool TaskPool::ready() const noexcept { return state_->first_finished(); }

bool TaskPool::wait(std::chrono::microseconds limit) {
  State& state = *state_;
  if (state.active == 0 && !state.jobs.empty()) drain(state, *state.jobs.front(), most_);
  if (state.first_finished()) return true;
  const Clock::time_point begin = Clock::now();
  while (was_short_ && Clock::now() - begin < std::min(limit, kWorthLooking)) {
    if (state.first_finished()) return true;
    pause_core();
  }
  std::unique_lock lock(state.mutex);
  const bool settled = state.settled() || state.changed.wait_for(lock, limit, [&] { return state.settled(); });
  was_short_ = Clock::now() - begin < kShort;
  return settled;
}

void TaskPool::clear() {
  std::deque<std::shared_ptr<Job>> dropped;
  const std::lock_guard lock(state_->mutex);
  for (const std::shared_ptr<Job>& job : state_->jobs) {
    job->next_.store(job->count_, std::memory_order_relaxed);  // nobody takes another task of it
  }
  dropped.swap(state_->jobs);
}

TaskPool::Work TaskPool::work() const noexcept {
  return {state_->done_tasks, std::chrono::nanoseconds(state_->done_wall), std::chrono::nanoseconds(state_->done_cpu)};
}

std::optional<int> TaskPool::overdue(std::chrono::nanoseconds limit) {
  const Clock::time_point now = Clock::now();
  watching_ += std::min<std::chrono::nanoseconds>(now - std::exchange(looked_, now), kMostBetweenLooks);
  std::optional<int> longest;
  for (int worker = 0; worker < most_; ++worker) {
    Watched& watched = watched_[static_cast<std::size_t>(worker)];
    const int64_t turn = state_->at(worker).turn.load(std::memory_order_relaxed);
    if (turn != watched.turn) {
      watched = {turn, watching_};
    } else if (turn % 2 != 0 && watching_ - watched.since >= limit) {
      const auto begun = [&](int other) { return watched_[static_cast<std::size_t>(other)].since; };
      if (!longest || begun(worker) < begun(*longest)) longest = worker;
    }
  }
  return longest;
}

core::Breadcrumb TaskPool::call_of(int worker) const noexcept {
  const core::Breadcrumb* const crumb = state_->at(worker).crumb.load(std::memory_order_acquire);
  return crumb == nullptr ? core::Breadcrumb{} : core::peek(*crumb);
}

/// True when this call finished the job's last task. A thread stops early when it is not wanted any more.
bool TaskPool::drain(State& state, Job& job, int worker) noexcept {
  State::Thread& own = state.at(worker);
  const bool is_caller = static_cast<std::size_t>(worker) + 1 == state.threads.size();
  int64_t turn = own.turn.load(std::memory_order_relaxed);
  int64_t cpu = is_caller ? 0 : thread_cpu();
  bool last = false;
  while (is_caller || worker < state.active.load(std::memory_order_relaxed)) {
    const int64_t chunk = is_caller ? job.count_ : state.chunk(job);
    const int64_t first = job.next_.fetch_add(chunk, std::memory_order_relaxed);
    if (first >= job.count_) break;
    const int64_t end = std::min(first + chunk, job.count_);
    const Clock::time_point begin = Clock::now();
    ++turn;
    for (int64_t task = first; task < end; ++task, turn += 2) {
      own.turn.store(turn, std::memory_order_relaxed);
      job.run(task, worker);
    }
    own.turn.store(--turn, std::memory_order_relaxed);
    const int64_t wall = since(begin);
    const int64_t before = is_caller ? 0 : std::exchange(cpu, thread_cpu());
    state.account(end - first, wall, cpu - before);
    last = job.done_.fetch_add(end - first, std::memory_order_acq_rel) + (end - first) == job.count_;
    if (wall > 4 * kChunk && chunk > 1 && !last) {  // dearer than it looked when nobody else was woken for it
      std::unique_lock lock(state.mutex);
      std::condition_variable* const picked = state.pick_one();
      lock.unlock();
      if (picked != nullptr) picked->notify_one();
    }
  }
  return last;
}

void TaskPool::run_thread(const std::shared_ptr<State>& shared, int worker) noexcept {
  const core::AlternateStack stack("loader", worker);
  State& state = *shared;
  State::Thread& own = state.at(worker);
  own.crumb.store(&core::breadcrumb, std::memory_order_release);
  std::string failure;
  try {
    give_way();
    if (state.on_thread_start) state.on_thread_start();
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "an unknown exception";
  }
  std::unique_lock lock(state.mutex);
  // As text: an exception object that threads share is freed by whichever lets go last.
  if (!failure.empty()) state.failure = "a loader thread cannot be set up: " + failure;
  while (failure.empty() && !state.ends()) {
    std::shared_ptr<Job> job = worker < state.active ? state.open_job() : nullptr;
    if (job == nullptr) {
      if (worker < state.active) state.idle.push_back(worker);
      own.asleep = true;
      own.wake.wait(lock, [&] { return !own.asleep; });
      continue;
    }
    std::condition_variable* const picked = state.pick_for_the_rest(*job);
    lock.unlock();
    if (picked != nullptr) picked->notify_one();
    const bool finished = drain(state, *job, worker);
    job.reset();  // may be the last owner of a dropped job
    lock.lock();
    if (finished) state.changed.notify_all();
  }
  own.crumb.store(nullptr, std::memory_order_release);
  own.life = State::Life::kGone;
  state.changed.notify_all();
}

}  // namespace tenon::engine
