// Order, completeness and end of the threads; also meant for ThreadSanitizer.
#include <engine/data/task_pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <engine/data/fakes.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

using fakes::threads_become;
using fakes::threads_of_process;
using std::chrono::milliseconds;

class FakeJob final : public Job {
 public:
  FakeJob(int id, int64_t tasks, std::function<void(int64_t, int)> run = {})
      : id_(id), results_(static_cast<std::size_t>(tasks)), run_(std::move(run)) {}

  [[nodiscard]] int64_t tasks() const noexcept override { return static_cast<int64_t>(results_.size()); }
  void run(int64_t task, int worker) noexcept override {
    if (run_) {
      run_(task, worker);
    }
    ++results_[static_cast<std::size_t>(task)];
  }

  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] const std::vector<int>& results() const { return results_; }

 private:
  int id_;
  std::vector<int> results_;  // plain memory: the pool must order the accesses
  std::function<void(int64_t, int)> run_;
};

class TaskPoolTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, TaskPoolTest, testing::Values(0, 1, 2, 5));

TEST_P(TaskPoolTest, GivesJobsBackInOrderWithEveryTaskRunOnce) {
  TaskPool pool(GetParam());
  int submitted = 0;
  for (int taken = 0; taken < 300; ++taken) {
    while (submitted < taken + 4) {
      pool.submit(std::make_shared<FakeJob>(submitted, submitted % 7));
      ++submitted;
    }
    const std::shared_ptr<Job> job = pool.take();
    const auto& done = static_cast<FakeJob&>(*job);
    EXPECT_EQ(done.id(), taken);
    EXPECT_EQ(done.results(), std::vector<int>(static_cast<std::size_t>(taken % 7), 1));
    EXPECT_EQ(pool.pending(), 3);
  }
}

TEST_P(TaskPoolTest, LeavesNoThreadAndNoJobBehindWhenItEndsEarly) {
  const int before = threads_of_process();
  std::vector<std::weak_ptr<Job>> jobs;
  {
    TaskPool pool(GetParam());
    for (int id = 0; id < 20; ++id) {
      auto job = std::make_shared<FakeJob>(id, 50, [](int64_t, int) { std::this_thread::sleep_for(milliseconds(1)); });
      jobs.push_back(job);
      pool.submit(std::move(job));
    }
    (void)pool.take();
  }
  EXPECT_TRUE(threads_become(before));
  for (const std::weak_ptr<Job>& job : jobs) {
    EXPECT_TRUE(job.expired());
  }
}

TEST_P(TaskPoolTest, RunsWhatComesAfterAClear) {
  TaskPool pool(GetParam());
  for (int round = 0; round < 50; ++round) {
    for (int id = 0; id < 3; ++id) {
      pool.submit(std::make_shared<FakeJob>(-1, 20));
    }
    pool.clear();
    EXPECT_EQ(pool.pending(), 0);
    pool.submit(std::make_shared<FakeJob>(round, 5));
    const std::shared_ptr<Job> job = pool.take();
    EXPECT_EQ(static_cast<FakeJob&>(*job).id(), round);
    EXPECT_EQ(static_cast<FakeJob&>(*job).results(), std::vector<int>(5, 1));
  }
}

TEST_P(TaskPoolTest, NumbersItsWorkersFromZero) {
  TaskPool pool(GetParam());
  EXPECT_EQ(pool.workers(), GetParam() + 1) << "one for each thread, one for the caller";
  std::mutex mutex;
  std::set<std::pair<int, std::thread::id>> seen;
  pool.submit(std::make_shared<FakeJob>(0, 200, [&](int64_t, int worker) {
    const std::lock_guard lock(mutex);
    seen.emplace(worker, std::this_thread::get_id());
  }));
  (void)pool.take();
  std::set<int> workers;
  for (const auto& [worker, thread] : seen) {
    EXPECT_GE(worker, 0);
    EXPECT_LT(worker, pool.workers());
    EXPECT_TRUE(workers.insert(worker).second) << "two threads are worker " << worker;
  }
}

TEST(TaskPool, ASlowTaskHoldsUpItsOwnJobOnly) {
  TaskPool pool(2);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::promise<void> reached;
  pool.submit(std::make_shared<FakeJob>(0, 4, [released](int64_t task, int) {
    if (task == 0) {
      released.wait();
    }
  }));
  pool.submit(std::make_shared<FakeJob>(1, 4, [&](int64_t task, int) {
    if (task == 3) {
      reached.set_value();
    }
  }));
  EXPECT_EQ(reached.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_FALSE(pool.wait(milliseconds(1)));
  release.set_value();
  EXPECT_TRUE(pool.wait(milliseconds(20000)));
  EXPECT_EQ(static_cast<FakeJob&>(*pool.take()).id(), 0);
}

TEST(TaskPool, AClearDoesNotWaitForARunningTask) {
  TaskPool pool(1);
  std::promise<void> release;
  std::promise<void> begun;
  auto job = std::make_shared<FakeJob>(0, 2, [&, released = release.get_future().share()](int64_t task, int) {
    EXPECT_EQ(task, 0) << "a dropped job goes on";
    begun.set_value();
    released.wait();
  });
  const std::weak_ptr<Job> watched = job;
  pool.submit(std::move(job));
  begun.get_future().wait();
  pool.clear();
  EXPECT_FALSE(watched.expired()) << "the running task lost its job";
  pool.submit(std::make_shared<FakeJob>(1, 1));
  release.set_value();
  EXPECT_EQ(static_cast<FakeJob&>(*pool.take()).id(), 1);
}

TEST(TaskPool, RunsEveryTaskOnceWhileTheNumberOfThreadsChanges) {
  TaskPool pool({.threads = 2, .most = 6});
  EXPECT_EQ(pool.workers(), 7);
  int submitted = 0;
  for (int taken = 0; taken < 400; ++taken) {
    while (submitted < taken + 4) {
      pool.submit(std::make_shared<FakeJob>(submitted, submitted % 90));
      ++submitted;
    }
    pool.set_threads(taken * 5 % 7);
    EXPECT_EQ(pool.threads(), taken * 5 % 7);
    const std::shared_ptr<Job> job = pool.take();
    const auto& done = static_cast<FakeJob&>(*job);
    EXPECT_EQ(done.id(), taken);
    EXPECT_EQ(done.results(), std::vector<int>(static_cast<std::size_t>(taken % 90), 1));
  }
}

TEST(TaskPool, HasNoThreadAtAllWhenNoneIsWanted) {
  const int before = threads_of_process();
  TaskPool pool({.threads = 3, .most = 3});
  EXPECT_TRUE(threads_become(before + 3));
  pool.set_threads(1);
  EXPECT_TRUE(threads_become(before + 3)) << "those that are not wanted sleep, to be woken again";
  pool.set_threads(0);
  EXPECT_TRUE(threads_become(before));
  const std::thread::id caller = std::this_thread::get_id();
  pool.submit(std::make_shared<FakeJob>(0, 20, [&](int64_t, int worker) {
    EXPECT_EQ(worker, pool.workers() - 1);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  }));
  (void)pool.take();
  pool.set_threads(2);
  EXPECT_TRUE(threads_become(before + 2));
  pool.submit(std::make_shared<FakeJob>(1, 20, [&](int64_t, int worker) { EXPECT_LT(worker, 2); }));
  EXPECT_EQ(static_cast<FakeJob&>(*pool.take()).id(), 1);
}

TEST(TaskPool, OnlySoManyThreadsWorkAsAreWanted) {
  TaskPool pool({.threads = 5, .most = 5});
  pool.set_threads(2);
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  pool.submit(std::make_shared<FakeJob>(0, 60, [&](int64_t, int) {
    const int running = ++now;
    for (int seen = most; running > seen && !most.compare_exchange_weak(seen, running);) {
    }
    std::this_thread::sleep_for(milliseconds(1));
    --now;
  }));
  (void)pool.take();
  EXPECT_EQ(most, 2);
}

TEST(TaskPool, TellsWhatTasksCost) {
  TaskPool pool(2);
  EXPECT_EQ(pool.work().tasks, 0);
  pool.submit(std::make_shared<FakeJob>(0, 10, [](int64_t, int) { std::this_thread::sleep_for(milliseconds(2)); }));
  (void)pool.take();
  const TaskPool::Work work = pool.work();
  EXPECT_EQ(work.tasks, 10);
  EXPECT_GE(work.wall, milliseconds(20));
  EXPECT_LT(work.cpu, work.wall / 2) << "they slept";
}

TEST(TaskPool, TellsWhichWorkerIsOnOneTaskForTooLong) {
  TaskPool pool(2);
  std::promise<void> release;
  std::atomic<int> stuck = -1;
  pool.submit(std::make_shared<FakeJob>(0, 40, [&, released = release.get_future().share()](int64_t task, int worker) {
    if (task == 7) {
      stuck = worker;
      released.wait();
    }
  }));
  std::optional<int> found;
  for (int i = 0; i < 20000 && !found; ++i) {
    found = pool.overdue(milliseconds(20));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(found, stuck.load());
  release.set_value();
  (void)pool.take();
  (void)pool.overdue(milliseconds(20));
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_EQ(pool.overdue(milliseconds(20)), std::nullopt) << "nobody is on a task";
}

TEST(TaskPool, ATaskIsNotOverdueBecauseTheProcessWasStopped) {
  TaskPool pool(1);
  std::promise<void> release;
  std::atomic<bool> begun = false;
  pool.submit(std::make_shared<FakeJob>(0, 1, [&, released = release.get_future().share()](int64_t, int) {
    begun = true;
    released.wait();
  }));
  while (!begun) std::this_thread::sleep_for(milliseconds(1));
  constexpr milliseconds kLimit{1100};
  EXPECT_EQ(pool.overdue(kLimit), std::nullopt);
  std::this_thread::sleep_for(milliseconds(1300));  // nobody looks, as between Ctrl-Z and fg
  EXPECT_EQ(pool.overdue(kLimit), std::nullopt) << "a second counts, no more";
  std::this_thread::sleep_for(milliseconds(150));
  EXPECT_EQ(pool.overdue(kLimit), 0);
  release.set_value();
  (void)pool.take();
}

TEST(TaskPool, GivesUpAThreadThatDoesNotComeBackWithWhatItsTaskUses) {
  const int before = threads_of_process();
  std::promise<void> release;
  std::promise<void> begun;
  auto kept = std::make_shared<int>(7);
  const std::weak_ptr<int> watched = kept;
  std::weak_ptr<Job> job;
  {
    TaskPool pool({.threads = 3, .most = 3, .keep = kept});
    auto stuck = std::make_shared<FakeJob>(
        0, 3, [&begun, value = kept.get(), released = release.get_future().share()](int64_t task, int) {
          if (task != 0) return;
          begun.set_value();
          released.wait();
          EXPECT_EQ(*value, 7);
        });
    job = stuck;
    pool.submit(std::move(stuck));
    kept.reset();
    begun.get_future().wait();
    pool.abandon(milliseconds(1));
    EXPECT_TRUE(pool.abandoned());
  }
  EXPECT_TRUE(threads_become(before + 1)) << "the others have ended";
  EXPECT_FALSE(watched.expired());
  EXPECT_FALSE(job.expired());
  release.set_value();
  EXPECT_TRUE(threads_become(before));
  EXPECT_TRUE(watched.expired());
  EXPECT_TRUE(job.expired());
}

TEST(TaskPool, WaitsForTasksThatEndSoon) {
  auto kept = std::make_shared<int>(7);
  TaskPool pool({.threads = 2, .most = 2, .keep = kept});
  std::promise<void> begun;
  std::atomic<bool> over = false;
  pool.submit(std::make_shared<FakeJob>(0, 1, [&](int64_t, int) {
    begun.set_value();
    std::this_thread::sleep_for(milliseconds(20));
    over = true;
  }));
  begun.get_future().wait();
  pool.end();
  EXPECT_TRUE(over);
  EXPECT_FALSE(pool.abandoned());
}

TEST(TaskPool, CallsTheHookFirstOnEachThread) {
  std::mutex mutex;
  std::set<std::thread::id> prepared;
  std::atomic<int> calls = 0;
  TaskPool pool(3, [&] {
    const std::lock_guard lock(mutex);
    prepared.insert(std::this_thread::get_id());
    ++calls;
  });
  pool.submit(std::make_shared<FakeJob>(0, 100, [&](int64_t, int) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(prepared.contains(std::this_thread::get_id()));
  }));
  (void)pool.take();
  for (int i = 0; i < 2000 && calls < 3; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(calls, 3);
}

TEST(TaskPool, AHookThatThrowsReachesTheCaller) {
  TaskPool pool(2, [] { throw std::runtime_error("no such core"); });
  pool.submit(std::make_shared<FakeJob>(0, 1));
  for (int i = 0; i < 2; ++i) {
    try {
      (void)pool.take();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kConfig);
      EXPECT_STREQ(error.what(), "a loader thread cannot be set up: no such core");
    }
  }
}

}  // namespace
}  // namespace tenon::engine
