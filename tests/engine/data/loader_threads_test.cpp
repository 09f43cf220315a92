// The threads of a loader: how they begin, what they make first, and that none is left behind.
#include <engine/data/loader.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <engine/data/fakes.hpp>
#include <engine/data/loader_fixture.hpp>

namespace tenon::engine {
namespace {

using fakes::Copy;
using fakes::copy_of;
using fakes::options;
using fakes::Pipe;
using fakes::run;
using fakes::threads_become;
using fakes::threads_of_process;
using std::chrono::milliseconds;

TEST(LoaderThreads, ArePreparedOnceEach) {
  const Pipe pipe(21);
  std::atomic<int> prepared = 0;
  LoaderOptions hooked = options(3);
  hooked.on_thread_start = [&] { ++prepared; };
  Loader loader(pipe.stream, hooked);
  for (int i = 0; i < 20000 && prepared < 3; ++i) std::this_thread::sleep_for(milliseconds(1));
  (void)run(loader, 0, 0, 5);
  EXPECT_EQ(prepared, 3);
}

/// Holds up each reader until so many are there.
class Crowd {
 public:
  explicit Crowd(std::size_t size) : size_(size) {}

  void join(int64_t sample) {
    std::unique_lock lock(mutex_);
    if (samples_.size() < size_) samples_.push_back(sample);
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return samples_.size() == size_; });
  }

  /// Whom it was made of, ascending; fewer when it did not come about.
  [[nodiscard]] std::vector<int64_t> samples() const {
    std::vector<int64_t> sorted = samples_;
    std::ranges::sort(sorted);
    return sorted;
  }

 private:
  std::size_t size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int64_t> samples_;
};

TEST(LoaderThreads, MakeTheFirstBatchAllTogetherBeforeAnyOther) {
  for (const bool automatic : {false, true}) {
    Crowd crowd(8);
    Pipe pipe(64);
    pipe.dataset.before([&](int64_t index) { crowd.join(index); });
    LoaderOptions wide = options(8, 3);
    wide.batch = 8;
    wide.automatic = automatic;
    wide.cores = 8;
    Loader loader(pipe.stream, wide);
    loader.start(0, 0, 1);
    const std::optional<Batch> batch = loader.next();
    ASSERT_TRUE(batch);
    std::vector<int64_t> expected = batch->sample_ids;
    std::ranges::sort(expected);
    EXPECT_EQ(crowd.samples(), expected) << (automatic ? "as many threads as cores" : "8 threads");
  }
}

TEST(LoaderThreads, AreAllGoneWhenItEndsEarly) {
  Pipe pipe(4000);
  pipe.dataset.before([](int64_t) { std::this_thread::sleep_for(milliseconds(1)); });
  const int before = threads_of_process();
  for (const int batches : {0, 1, 3}) {
    Loader loader(pipe.stream, options(5, 4));
    EXPECT_TRUE(threads_become(before + 5));
    loader.start(0, 0, 1);
    for (int i = 0; i < batches; ++i) {
      EXPECT_TRUE(loader.next());
    }
  }
  EXPECT_TRUE(threads_become(before));
  const int reads = pipe.dataset.reads();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(pipe.dataset.reads(), reads);
}

TEST(LoaderThreads, AreAllGoneAfterItStartedElsewhereWithWorkUnderWay) {
  Pipe straight(400);
  Loader whole(straight.stream, options(0));
  const std::vector<Copy> all = run(whole, 0, 0, 2);
  Pipe pipe(400);
  pipe.dataset.before([](int64_t index) { std::this_thread::sleep_for(std::chrono::microseconds(index % 5 * 400)); });
  const int before = threads_of_process();
  {
    Loader loader(pipe.stream, options(5, 4));
    for (const int64_t place : {0, 70, 3, 99, 40}) {
      loader.start(1, place, 2);
      EXPECT_TRUE(threads_become(before + 5));
      const std::optional<Batch> batch = loader.next();
      ASSERT_TRUE(batch);
      EXPECT_EQ(copy_of(*batch), all[static_cast<std::size_t>(100 + place)]);
    }
    loader.start(0, 50, 2);  // and nobody asks
  }
  EXPECT_TRUE(threads_become(before));
}

TEST(LoaderThreads, WaitForASlowConsumerAndAreAllGoneBehindIt) {
  Pipe pipe(40);
  const int before = threads_of_process();
  {
    Loader loader(pipe.stream, options(5, 2));
    loader.start(0, 0, 1);
    for (int64_t taken = 1; taken <= 10; ++taken) {
      ASSERT_TRUE(loader.next());
      std::this_thread::sleep_for(milliseconds(5));  // all that may be made ahead is made, and the threads wait
      EXPECT_LE(pipe.dataset.reads(), 4 * (taken + 2)) << "reads further ahead than allowed";
      EXPECT_TRUE(threads_become(before + 5));
    }
    EXPECT_FALSE(loader.next());
  }
  EXPECT_TRUE(threads_become(before));
  EXPECT_EQ(pipe.dataset.reads(), 40);
}

}  // namespace
}  // namespace tenon::engine
