// Order, completeness and end of the threads; also meant for ThreadSanitizer.
#include <engine/data/task_pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
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
  EXPECT_EQ(pool.workers(), std::max(GetParam(), 1));
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
