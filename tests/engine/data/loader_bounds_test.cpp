// What a loader takes: memory, threads, descriptors and time, however long it runs.
#include <engine/data/loader.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <engine/data/fakes.hpp>
#include <process_use.hpp>
#include <tenon/fingerprint.hpp>

namespace tenon::engine {
namespace {

using fakes::FunctionDataset;
using fakes::threads_of_process;
using std::chrono::milliseconds;
using test::descriptors;
using test::resident;

constexpr int64_t kItem = 1000;                                       // bytes
constexpr bool kPlain = std::string_view(TENON_SANITIZER) == "none";  // sanitizers keep freed memory, and take time

/// Counts what is alive, and the most that ever was.
struct Counter {
  std::atomic<int64_t> live = 0;
  std::atomic<int64_t> most = 0;
  std::atomic<int64_t> taken = 0;

  Allocator allocator() {
    return [this](std::size_t bytes) {
      const auto count = static_cast<int64_t>(bytes);
      const int64_t now = live += count;
      for (int64_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      ++taken;
      const std::shared_ptr<void> memory = host_memory(bytes);
      return std::shared_ptr<void>(memory.get(), [this, count, memory](void*) { live -= count; });
    };
  }
};

/// Items of kItem bytes; with `free`, of a size that no spec tells.
FunctionDataset items(int64_t count, bool free, std::atomic<int>* reads = nullptr) {
  const Dim size = free ? Dim() : Dim(kItem);
  return FunctionDataset(count, {{"x", Dtype::kUint8, {size}}}, [reads](int64_t, Sample& out) {
    (void)out.allocate(0, Dtype::kUint8, Shape{kItem});
    if (reads != nullptr) ++*reads;
  });
}

LoaderOptions options(int workers, int64_t batch = 4) {
  LoaderOptions options;
  options.node = "train";
  options.batch = batch;
  options.shuffle = true;
  options.workers = workers;
  return options;
}

/// Items that were read once it is so many and time enough for more went by; those there are where fewer come.
int settled(const std::atomic<int>& reads, int expected) {
  for (int i = 0; i < 20'000 && reads < expected; ++i) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(20));
  return reads;
}

TEST(LoaderMemory, BoundsWhatIsMadeAhead) {
  for (const bool free : {false, true}) {
    std::atomic<int> reads = 0;
    const FunctionDataset dataset = items(400, free, &reads);
    const Stream stream({"set", "dataset:function", &dataset}, {}, 7);
    Counter memory;
    LoaderOptions bounded = options(2);
    bounded.prefetch = 16;
    bounded.memory = 3 * 4 * kItem + kItem;  // three batches and a bit
    bounded.allocate = memory.allocator();
    Loader loader(stream, bounded);
    loader.start(0, 0, 1);
    std::optional<Batch> held;
    for (int taken = 1; taken <= 20; ++taken) {
      held.reset();
      held = loader.next();
      ASSERT_TRUE(held);
      if (!free || taken > 1) {
        EXPECT_EQ(settled(reads, 4 * (taken + 3)), 4 * (taken + 3)) << "three ahead of the one in hand";
      }
    }
    EXPECT_LE(memory.most, 5 * 4 * kItem) << "those three, the one in hand, the one in the making";
    EXPECT_EQ(loader.facts().ahead, 3);
    EXPECT_EQ(loader.facts().batch_bytes, 4 * kItem);
  }
}

TEST(LoaderMemory, ThatIsTooSmallForABatchMakesOneAtATime) {
  for (const bool free : {false, true}) {
    std::atomic<int> reads = 0;
    const FunctionDataset dataset = items(400, free, &reads);
    const Stream stream({"set", "dataset:function", &dataset}, {}, 7);
    Counter memory;
    LoaderOptions scarce = options(3);
    scarce.prefetch = 16;
    scarce.memory = 100;
    scarce.allocate = memory.allocator();
    Loader loader(stream, scarce);
    loader.start(0, 0, 1);
    for (int taken = 1; taken <= 20; ++taken) {
      const std::optional<Batch> held = loader.next();
      ASSERT_TRUE(held);
      EXPECT_LE(settled(reads, 4 * taken), 4 * (taken + (free && taken == 1 ? 2 : 1)));
    }
    EXPECT_LE(memory.most, (free ? 3 : 2) * 4 * kItem)
        << "the one in hand and the next; one more until the size is known";
  }
}

TEST(LoaderMemory, IsTakenOnceAndStaysFlatOverTwentyEpochs) {
  for (const bool automatic : {false, true}) {
    const FunctionDataset dataset = items(kPlain ? 60'000 : 2'000, true);  // its order is made beside the epoch before
    const Stream stream({"set", "dataset:function", &dataset}, {}, 7);
    Counter memory;
    LoaderOptions counted = options(2, 64);
    counted.automatic = automatic;
    counted.allocate = memory.allocator();
    Loader loader(stream, counted);
    constexpr int kEpochs = 22;
    loader.start(0, 0, kEpochs);
    int64_t warm = 0;
    int64_t taken = 0;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      while (loader.next()) {
      }
      if (epoch == 1) {
        warm = resident();
        taken = memory.taken;
      }
    }
    EXPECT_LE(memory.taken - taken, 3) << "slots that a busy machine had no need of before";
    if (kPlain) {
      // An order that each epoch left behind would be twice that.
      EXPECT_NEAR(static_cast<double>(resident()), static_cast<double>(warm), 5e6);
    }
  }
}

/// 50 bytes that each batch left behind would be seen.
TEST(LoaderMemory, StaysFlatOverAHundredThousandBatches) {
  if (!kPlain) GTEST_SKIP() << "a sanitizer keeps freed memory";
  const FunctionDataset dataset(4000, {{"x", Dtype::kUint8, {Dim()}}}, [](int64_t index, Sample& out) {
    const Array x = out.allocate(0, Dtype::kUint8, Shape{64});
    std::memset(x.data, static_cast<int>(index % 251), x.bytes());
  });
  const fakes::FunctionTransform copies([](Sample& sample, Rng& /*random*/, const When& /*when*/) {
    const Array in = sample.at(0);
    std::memcpy(sample.allocate(0, in.dtype, in.shape).data, in.data, in.bytes());
  });
  const Stream stream({"set", "dataset:function", &dataset}, {{"copies", "transform:copies", &copies}}, 7);
  for (const int workers : {0, 2}) {
    Loader loader(stream, options(workers));
    loader.start(0, 0, 1000);
    int64_t warm = 0;
    for (int64_t batches = 0; batches < 105'000;) {
      batches += loader.next() ? 1 : 0;
      if (batches == 5000) warm = resident();
    }
    EXPECT_NEAR(static_cast<double>(resident()), static_cast<double>(warm), 5e6) << workers << " workers";
  }
}

bool maps_shared_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/dev/shm") != std::string::npos) return true;
  }
  return false;
}

TEST(Loader, TakesTheSameThreadsAndDescriptorsInEveryEpochAndNoSharedMemory) {
  const FunctionDataset dataset = items(2000, false);
  const Stream stream({"set", "dataset:function", &dataset}, {}, 7);
  const int threads = threads_of_process();
  const int open = descriptors();
  Loader loader(stream, options(3, 16));
  loader.start(0, 0, 20);
  for (int epoch = 0; epoch < 20; ++epoch) {
    while (loader.next()) {
    }
    EXPECT_EQ(threads_of_process(), threads + 3) << "epoch " << epoch;
    EXPECT_EQ(descriptors(), open) << "epoch " << epoch;
  }
  EXPECT_FALSE(maps_shared_memory());
}

TEST(Loader, GoesOnAtTheMillionthBatchAtOnceAndReadsNothingElse) {
  constexpr int64_t kBatch = 1'000'000;
  std::atomic<int> reads = 0;
  const FunctionDataset dataset = items(4 * kBatch + 40, false, &reads);
  const Stream stream({"set", "dataset:function", &dataset}, {}, 7);
  std::vector<int64_t> ids;
  for (const int workers : {0, 2}) {
    reads = 0;
    const std::clock_t begin = std::clock();  // of all threads, which a busy machine leaves as it is
    Loader loader(stream, options(workers));
    loader.start(0, kBatch, 1);
    const std::optional<Batch> batch = loader.next();
    const double taken = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (kPlain) {
      EXPECT_LT(taken, 1) << workers << " workers";
    }
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->index, kBatch);
    const int ahead = 4 * (workers == 0 ? 1 : 3);
    EXPECT_LE(settled(reads, ahead), ahead);
    EXPECT_EQ(loader.reads().first->batch, kBatch);
    if (ids.empty()) ids = batch->sample_ids;
    EXPECT_EQ(batch->sample_ids, ids);
  }
}

TEST(Loader, MakesTheNextLongOrderBesideTheEpochBefore) {
  constexpr int64_t kItems = 100'000;
  const FunctionDataset dataset = items(kItems, false);
  const Stream stream({"set", "dataset:function", &dataset}, {}, 7);
  std::vector<std::vector<int64_t>> ids;
  for (const int workers : {0, 2}) {
    LoaderOptions large = options(workers, 4096);
    Loader loader(stream, large);
    loader.start(0, 0, 3);
    std::vector<int64_t>& all = ids.emplace_back();
    for (int epoch = 0; epoch < 3; ++epoch) {
      while (const std::optional<Batch> batch = loader.next()) {
        all.insert(all.end(), batch->sample_ids.begin(), batch->sample_ids.end());
      }
    }
    loader.start(2, 0, 3);  // an order that was made ahead for another epoch is not taken
    EXPECT_EQ(loader.next()->sample_ids.front(), all[2 * kItems]);
  }
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_NE(ids[0][0], ids[0][kItems]);
  const EpochOrder second(kItems, true, 7, "train", 1);
  for (int64_t position = 0; position < kItems; position += 997) {
    ASSERT_EQ(ids[0][static_cast<std::size_t>(kItems + position)], second[position]);
  }
}

}  // namespace
}  // namespace tenon::engine
