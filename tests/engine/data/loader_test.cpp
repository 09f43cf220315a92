// Batches do not depend on threads; order, seek, epochs, ranks and memory.
#include <engine/data/loader.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <engine/data/fakes.hpp>
#include <engine/data/loader_fixture.hpp>

namespace tenon::engine {
namespace {

using fakes::Copy;
using fakes::copy_of;
using fakes::FakeDataset;
using fakes::FunctionDataset;
using fakes::FunctionTransform;
using fakes::options;
using fakes::Pipe;
using fakes::run;
using std::chrono::milliseconds;

template <class Holds>
bool soon(const Holds& holds) {
  for (int i = 0; i < 20000 && !holds(); ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return holds();
}

TEST(Loader, BytesDoNotDependOnWorkersOrPrefetch) {
  const Pipe pipe;
  Loader plain(pipe.stream, options(0));
  const std::vector<Copy> expected = run(plain, 0, 0, 3);
  ASSERT_EQ(expected.size(), 18U);
  for (const int workers : {1, 2, 5, 8}) {
    for (int64_t prefetch = 1; prefetch <= 4; ++prefetch) {
      Loader loader(pipe.stream, options(workers, prefetch));
      EXPECT_EQ(run(loader, 0, 0, 3), expected) << workers << " workers, prefetch " << prefetch;
    }
  }
}

TEST(Loader, BytesDoNotDependOnHowLongEachSampleTakes) {
  FakeDataset dataset(42);
  const FunctionTransform noise = fakes::noise();
  const FunctionTransform slow([](Sample&, Rng& random, const When&) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.integer(0, 5000)));
  });
  const Stream slowed({"train_set", "dataset:fake", &dataset},
                      {{"noise", "transform:noise", &noise}, {"slow", "transform:slow", &slow}}, 7);
  const Stream quick({"train_set", "dataset:fake", &dataset}, {{"noise", "transform:noise", &noise}}, 7);
  Loader plain(quick, options(0));
  const std::vector<Copy> expected = run(plain, 0, 0, 2);
  for (const int workers : {0, 1, 2, 5}) {
    Loader loader(slowed, options(workers));
    EXPECT_EQ(run(loader, 0, 0, 2), expected) << workers << " workers";
  }
}

TEST(Loader, ABatchIsItsSamplesOneByOne) {
  const Pipe pipe;
  Loader loader(pipe.stream, options(2));
  LoaderOptions single = options(0);
  single.batch = 1;
  single.shuffle = false;
  Loader one(pipe.stream, single);
  const std::vector<Copy> samples = run(one, 0, 0, 1);
  for (const Copy& batch : run(loader, 0, 0, 1)) {
    std::vector<std::string> joined(2);
    for (const int64_t id : batch.ids) {
      for (std::size_t field = 0; field < 2; ++field) {
        joined[field] += samples[static_cast<std::size_t>(id)].bytes[field];
      }
    }
    EXPECT_EQ(batch.bytes, joined);
    const auto size = static_cast<int64_t>(batch.ids.size());
    EXPECT_EQ(batch.shapes, (std::vector<Shape>{{size, 1, 4, 4}, {size}}));
  }
}

TEST(Loader, EverySampleComesOnceAnEpochAndEpochsDiffer) {
  const Pipe pipe;
  Loader loader(pipe.stream, options(2));
  std::vector<std::vector<int64_t>> orders(3);
  std::map<int64_t, std::set<std::string>> images;
  for (const Copy& batch : run(loader, 0, 0, 3)) {
    std::vector<int64_t>& order = orders[static_cast<std::size_t>(batch.epoch)];
    for (std::size_t i = 0; i < batch.ids.size(); ++i) {
      order.push_back(batch.ids[i]);
      images[batch.ids[i]].insert(batch.bytes[0].substr(i * 64, 64));
    }
  }
  for (int64_t sample = 0; sample < 21; ++sample) {
    EXPECT_EQ(pipe.dataset.reads(sample), 3);
  }
  for (std::vector<int64_t>& order : orders) {
    EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 21U);
    EXPECT_EQ(order.size(), 21U);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
  int changed = 0;
  for (const auto& [sample, seen] : images) {
    changed += seen.size() > 1 ? 1 : 0;
  }
  EXPECT_GE(changed, 18) << "augmentation repeats from epoch to epoch";
}

TEST(Loader, AShortLastBatchIsDroppedOnRequest) {
  const Pipe pipe;
  LoaderOptions drops = options(2);
  drops.last = LastBatch::kDrop;
  Loader loader(pipe.stream, drops);
  EXPECT_EQ(loader.batches(), 5);
  const std::vector<Copy> batches = run(loader, 0, 0, 2);
  EXPECT_EQ(batches.size(), 10U);
  for (const Copy& batch : batches) {
    EXPECT_EQ(batch.ids.size(), 4U);
  }
}

TEST(Loader, ASeekGivesTheSameBytesAndReadsNothingElse) {
  Pipe straight;
  Loader whole(straight.stream, options(0));
  const std::vector<Copy> all = run(whole, 0, 0, 3);
  for (const int workers : {0, 3}) {
    for (std::size_t skipped = 0; skipped <= all.size(); ++skipped) {
      Pipe pipe;
      Loader loader(pipe.stream, options(workers));
      const auto batches = static_cast<std::size_t>(loader.batches());
      const std::vector<Copy> rest =
          run(loader, static_cast<int64_t>(skipped / batches), static_cast<int64_t>(skipped % batches), 3);
      EXPECT_EQ(rest, std::vector<Copy>(all.begin() + static_cast<std::ptrdiff_t>(skipped), all.end()));
      std::map<int64_t, int> expected;
      for (const Copy& batch : rest) {
        for (const int64_t id : batch.ids) {
          ++expected[id];
        }
      }
      for (int64_t sample = 0; sample < 21; ++sample) {
        EXPECT_EQ(pipe.dataset.reads(sample), expected[sample]);
      }
    }
  }
}

TEST(Loader, TheEndOfAnEpochIsAPositionToo) {
  const Pipe pipe;
  Loader loader(pipe.stream, options(2));
  const std::vector<Copy> all = run(loader, 0, 0, 2);
  loader.start(0, loader.batches(), 2);
  EXPECT_FALSE(loader.next());
  const std::optional<Batch> batch = loader.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(copy_of(*batch), all[6]);
  loader.start(2, 0, 2);
  EXPECT_FALSE(loader.next());
}

TEST(Loader, APositionThatDoesNotExistIsRefused) {
  const Pipe pipe;
  Loader loader(pipe.stream, options(2));
  for (const auto& [epoch, batch] :
       std::vector<std::pair<int64_t, int64_t>>{{-1, 0}, {0, -1}, {0, 7}, {3, 0}, {2, 1}}) {
    EXPECT_NE(fakes::error_of(ErrorCode::kCheckpoint, [&, e = epoch, b = batch] { loader.start(e, b, 2); })
                  .find("2 epochs of 6 batches are planned"),
              std::string::npos);
  }
  EXPECT_EQ(pipe.dataset.reads(), 0);
  EXPECT_THROW((void)loader.next(), std::logic_error);
}

TEST(Loader, ARestartAtEpochZeroSeesTheSameBytesEachTime) {
  const Pipe pipe;
  LoaderOptions plain = options(2);
  plain.shuffle = false;
  Loader loader(pipe.stream, plain);
  const std::vector<Copy> first = run(loader, 0, 0, 1);
  EXPECT_EQ(run(loader, 0, 0, 1), first);
  loader.start(0, 0, 1);
  (void)loader.next();
  EXPECT_EQ(run(loader, 0, 0, 1), first) << "after one that was left early";
  EXPECT_EQ(first[1].ids, (std::vector<int64_t>{4, 5, 6, 7}));
}

TEST(Loader, RanksTogetherMakeTheBatchWhateverTheirThreads) {
  const Pipe pipe;
  Loader whole(pipe.stream, options(0));
  const std::vector<Copy> expected = run(whole, 0, 0, 2);
  for (const int workers : {0, 1, 2, 8}) {
    for (const int64_t world : {2, 3, 8}) {
      std::vector<Copy> joined(expected.size());
      for (int64_t rank = 0; rank < world; ++rank) {
        LoaderOptions part = options(workers);
        part.rank = rank;
        part.world = world;
        Loader loader(pipe.stream, part);
        const std::vector<Copy> parts = run(loader, 0, 0, 2);
        ASSERT_EQ(parts.size(), expected.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
          joined[i].ids.insert(joined[i].ids.end(), parts[i].ids.begin(), parts[i].ids.end());
          joined[i].bytes.resize(2);
          joined[i].bytes[0] += parts[i].bytes[0];
          joined[i].bytes[1] += parts[i].bytes[1];
        }
      }
      for (std::size_t i = 0; i < joined.size(); ++i) {
        EXPECT_EQ(joined[i].ids, expected[i].ids) << world << " ranks, " << workers << " workers";
        EXPECT_EQ(joined[i].bytes, expected[i].bytes) << world << " ranks, " << workers << " workers";
      }
    }
  }
}

TEST(Loader, ReadsAheadOverTheEndOfAnEpochButNoFurtherThanAllowed) {
  const Pipe pipe(4);
  Loader loader(pipe.stream, options(2, 3));  // one batch an epoch
  loader.start(0, 0, 10);
  const auto reads_exactly = [&](int reads) {
    const bool reached = soon([&] { return pipe.dataset.reads() == reads; });
    std::this_thread::sleep_for(milliseconds(20));
    return reached && pipe.dataset.reads() == reads;
  };
  EXPECT_TRUE(reads_exactly(12)) << pipe.dataset.reads();
  ASSERT_TRUE(loader.next());
  EXPECT_TRUE(reads_exactly(16)) << pipe.dataset.reads();
  EXPECT_FALSE(loader.next());
  EXPECT_TRUE(reads_exactly(16)) << pipe.dataset.reads();
}

TEST(Loader, ASlowSampleDoesNotHoldUpTheOthers) {
  Pipe pipe;
  std::promise<void> release;
  pipe.dataset.before([released = release.get_future().share()](int64_t index) {
    if (index == 2) {
      released.wait();
    }
  });
  LoaderOptions plain = options(2, 3);
  plain.shuffle = false;
  Loader loader(pipe.stream, plain);
  loader.start(0, 0, 1);
  EXPECT_TRUE(soon([&] { return pipe.dataset.reads() == 12; }));
  EXPECT_FALSE(loader.wait(milliseconds(30)));
  EXPECT_GE(loader.waited(), milliseconds(30));
  release.set_value();
  EXPECT_TRUE(loader.wait(milliseconds(20000)));
  const std::optional<Batch> batch = loader.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->sample_ids, (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(Loader, TheCallerMayKeepMoreBatchesThanAreMadeAhead) {
  const Pipe pipe;
  for (const int workers : {0, 2}) {
    std::vector<Batch> kept;
    std::vector<Copy> expected;
    {
      Loader loader(pipe.stream, options(workers, 1));
      expected = run(loader, 0, 0, 1);
      loader.start(0, 0, 1);
      while (std::optional<Batch> batch = loader.next()) {
        kept.push_back(std::move(*batch));
      }
    }
    ASSERT_EQ(kept.size(), 6U);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(copy_of(kept[i]), expected[i]) << "a batch that is held was written over";
    }
  }
}

TEST(Loader, ReusesItsMemoryAndGivesAllOfItBack) {
  const Pipe pipe;
  std::atomic<int> made = 0;
  std::atomic<int> live = 0;
  LoaderOptions counted = options(2, 3);
  counted.allocate = [&](std::size_t bytes) {
    ++made;
    ++live;
    const std::shared_ptr<void> owner = host_memory(bytes);
    return std::shared_ptr<void>(owner.get(), [&live, owner](void*) { --live; });
  };
  std::optional<Batch> last;
  {
    Loader loader(pipe.stream, counted);
    (void)run(loader, 0, 0, 20);
    EXPECT_LE(made, 2 * (3 + 2)) << "two fields of the batches made ahead, the one asked for and the one in hand";
    loader.start(0, 0, 1);
    last = loader.next();
  }
  EXPECT_EQ(live, 2) << "only the batch that is still held";
  last.reset();
  EXPECT_EQ(live, 0);
}

TEST(Loader, ADatasetWithoutTransformsReadsStraightIntoTheBatch) {
  std::atomic<uint8_t*> written = nullptr;
  const FunctionDataset dataset(8, {{"x", Dtype::kUint8, {2}}}, [&](int64_t index, Sample& out) {
    const Array x = out.allocate(0, Dtype::kUint8, Shape{2});
    x.as<uint8_t>()[0] = x.as<uint8_t>()[1] = static_cast<uint8_t>(index);
    if (index == 3) {
      written = x.as<uint8_t>().data();
    }
  });
  const Stream stream({"set", "dataset:function", &dataset}, {}, 7);
  LoaderOptions plain = options(2);
  plain.shuffle = false;
  Loader loader(stream, plain);
  loader.start(0, 0, 1);
  const std::optional<Batch> batch = loader.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(written.load(), static_cast<uint8_t*>(batch->fields[0].data) + 6);
}

}  // namespace
}  // namespace tenon::engine
