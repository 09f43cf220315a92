// The number of threads that a loader settles on, by a model of a machine.
#include <engine/data/worker_tuner.hpp>

#include <algorithm>

#include <gtest/gtest.h>

namespace tenon::engine {
namespace {

/// Batches of 16 samples; a sample sleeps and computes, and so does the consumer between batches.
struct Machine {
  int cores = 2;
  double sleep = 0;  // s, of a sample
  double spin = 0;
  double consumer_sleep = 0;  // s, of a step
  double consumer_spin = 0;
  double hand_over = 10e-6;  // s, of a batch from a thread to the consumer

  static constexpr double kBatch = 16;

  /// Seconds of a step with so many threads: the slowest of the consumer, the threads and the cores.
  [[nodiscard]] double step(int threads) const {
    const double own = consumer_sleep + consumer_spin;
    const double work = kBatch * (sleep + spin);
    if (threads == 0) return own + work;
    const double busy = kBatch * spin + consumer_spin;
    return std::max({own + hand_over, work / threads, busy / cores});
  }

  [[nodiscard]] LoaderWindow window(int threads) const {
    LoaderWindow window;
    window.batches = 100;
    window.tasks = static_cast<int64_t>(kBatch) * window.batches;
    window.seconds = step(threads) * 100;
    window.waited = std::max(window.seconds - 100 * (consumer_sleep + consumer_spin), 0.0);
    // Who computes on more threads than there are cores waits for a core.
    const double cpu = kBatch * spin;
    window.cpu = 100 * cpu;
    window.wall = 100 * (kBatch * sleep + cpu * std::max(1.0, std::min(threads * spin / (sleep + spin), 8.0) / cores));
    return window;
  }

  /// What it settles on, in a few windows.
  [[nodiscard]] int settle(bool without_threads = false, int windows = 40) const {
    WorkerTuner tuner(cores, 32, true);
    if (without_threads) tuner.begin_without_threads();
    for (int i = 0; i < windows; ++i) tuner.observe(window(tuner.threads()));
    EXPECT_TRUE(tuner.settled());
    double best = step(0);
    for (int threads = 1; threads <= 32; ++threads) best = std::min(best, step(threads));
    EXPECT_LE(step(tuner.threads()), 1.03 * best) << tuner.threads() << " threads";
    return tuner.threads();
  }
};

TEST(WorkerTuner, BeginsWithAllCores) {
  EXPECT_EQ(WorkerTuner(8, 32, false).threads(), 8);
  EXPECT_EQ(WorkerTuner(0, 32, false).threads(), 1);
  EXPECT_EQ(WorkerTuner(8, 3, false).threads(), 3);
}

TEST(WorkerTuner, LeavesACoreToATrainerThatDoesNotWait) {
  EXPECT_EQ((Machine{.cores = 8, .spin = 1e-3, .consumer_spin = 10e-3}.settle()), 2);
  const Machine busy{.cores = 8, .spin = 4e-3, .consumer_spin = 10e-3};
  EXPECT_EQ(busy.settle(), 7);
  WorkerTuner tuner(4, 32, true);
  tuner.observe(Machine{.cores = 4, .spin = 1e-3, .consumer_spin = 10e-3}.window(4));
  EXPECT_EQ(tuner.threads(), 3) << "at once";
}

TEST(WorkerTuner, TakesAllCoresForATrainerThatMostlyWaits) {
  for (const int cores : {1, 2, 4, 16}) {
    EXPECT_EQ((Machine{.cores = cores, .spin = 1e-3}.settle()), cores);
  }
}

TEST(WorkerTuner, TakesMoreThanTheCoresWhereSamplesWaitThemselves) {
  EXPECT_EQ((Machine{.sleep = 2e-3}.settle()), 32);
  EXPECT_GE((Machine{.sleep = 2e-3, .consumer_sleep = 10e-3}.settle()), 4);
  EXPECT_LE((Machine{.sleep = 2e-3, .consumer_sleep = 10e-3}.settle()), 8);
}

TEST(WorkerTuner, GoesNoFurtherThanItHelps) {
  // Half on a core: two cores are full with four threads.
  EXPECT_LE((Machine{.sleep = 1e-3, .spin = 1e-3}.settle()), 8);
  EXPECT_LE((Machine{.sleep = 1e-3, .spin = 0.2e-3}.settle()), 16);
}

TEST(WorkerTuner, TakesNoThreadsForWhatIsMadeFasterThanHandedOver) {
  EXPECT_EQ((Machine{.spin = 0.5e-6}.settle(true)), 0);
  EXPECT_EQ((Machine{.spin = 0.5e-6, .consumer_spin = 1e-3}.settle(true)), 0);
  EXPECT_EQ((Machine{.spin = 0.5e-6, .consumer_spin = 1e-3}.settle(false)), 0) << "begun with threads";
}

TEST(WorkerTuner, KeepsAThreadWhereItMayNotDoWithout) {
  const Machine machine{.spin = 0.5e-6, .consumer_spin = 1e-3};
  WorkerTuner tuner(4, 32, false);
  for (int i = 0; i < 40; ++i) {
    tuner.observe(machine.window(tuner.threads()));
    ASSERT_GE(tuner.threads(), 1);
  }
  EXPECT_EQ(tuner.threads(), 1);
}

TEST(WorkerTuner, TakesThreadsForCheapBatchesThatHoldTrainingUpAllTheSame) {
  EXPECT_GE((Machine{.spin = 9e-6, .consumer_sleep = 300e-6}.settle(true)), 1);
  EXPECT_GE((Machine{.spin = 9e-6, .consumer_sleep = 300e-6}.settle(false)), 1);
}

TEST(WorkerTuner, TakesThreadsWhenSamplesBecomeDearer) {
  Machine machine{.spin = 0.5e-6, .consumer_spin = 1e-3};
  WorkerTuner tuner(2, 32, true);
  tuner.begin_without_threads();
  for (int i = 0; i < 20; ++i) tuner.observe(machine.window(tuner.threads()));
  EXPECT_EQ(tuner.threads(), 0);
  machine.sleep = 5e-3;  // the rest of the data is on a slow disk
  for (int i = 0; i < 40; ++i) tuner.observe(machine.window(tuner.threads()));
  EXPECT_GT(tuner.threads(), 2);
}

TEST(WorkerTuner, TriesLessAndLessOftenWhatDidNotHelp) {
  const Machine machine{.sleep = 1e-3, .spin = 1e-3};
  WorkerTuner tuner(2, 32, true);
  int changes = 0;
  for (int i = 0; i < 1000; ++i) {
    const int before = tuner.threads();
    tuner.observe(machine.window(before));
    changes += tuner.threads() != before ? 1 : 0;
  }
  EXPECT_LE(changes, 60) << "two for each try";
}

}  // namespace
}  // namespace tenon::engine
