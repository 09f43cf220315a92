// Memory that a loader's batches take at most: what page-locked memory is limited to.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <engine/data/fakes.hpp>
#include <engine/data/loader.hpp>
#include <engine/data/samples.hpp>

namespace tenon::engine {
namespace {

constexpr std::size_t kBatchBytes = 4 * (16 + 8);

LoaderOptions options(int workers, int64_t memory) {
  LoaderOptions options;
  options.node = "train";
  options.batch = 4;
  options.workers = workers;
  options.prefetch = 4;
  options.memory = memory;
  return options;
}

TEST(LoaderBytes, AreEnoughForAllBatchesThatThereAreAtOneTime) {
  const fakes::FakeDataset dataset(80);
  const Stream stream(fakes::node(dataset), {}, 7);
  for (const int workers : {0, 2}) {
    for (const std::size_t memory :
         {std::size_t{1}, kBatchBytes - 1, kBatchBytes, 2 * kBatchBytes - 1, 7 * kBatchBytes / 2, 100 * kBatchBytes}) {
      LoaderOptions plain = options(workers, static_cast<int64_t>(memory));
      const std::size_t most = most_bytes(stream, plain);
      std::vector<std::string> warnings;
      plain.allocate = preferring(&host_memory, most, [&](const std::string& why) { warnings.push_back(why); });
      Loader loader(stream, std::move(plain));
      loader.start(0, 0, 1);
      std::optional<Batch> held;
      for (int64_t i = 0; i < loader.batches(); ++i) {
        while (!loader.wait(std::chrono::milliseconds(1000))) {
        }
        std::optional<Batch> next = loader.next();
        held = std::move(next);
      }
      EXPECT_TRUE(warnings.empty()) << workers << " threads, " << memory << " bytes: " << warnings.front();
    }
  }
}

TEST(LoaderBytes, AreBoundedByMemoryAndTwoBatches) {
  const fakes::FakeDataset dataset(80);
  const Stream stream(fakes::node(dataset), {}, 7);
  EXPECT_EQ(most_bytes(stream, options(2, 10)), 3 * kBatchBytes) << "one is made ahead in any case";
  EXPECT_EQ(most_bytes(stream, options(2, 150)), 150 + 2 * kBatchBytes);
  EXPECT_EQ(most_bytes(stream, options(2, 10'000)), 20'000U);
  LoaderOptions shared = options(2, 10);
  shared.world = 2;
  EXPECT_EQ(most_bytes(stream, shared), 3 * kBatchBytes / 2) << "a rank has its part of a batch";
}

TEST(LoaderBytes, CountLengthsAndMasks) {
  const fakes::FunctionDataset dataset(8, {{"tokens", Dtype::kUint8, {Dim()}}}, [](int64_t, Sample&) {});
  const Stream stream(fakes::node(dataset), {}, 7);
  LoaderOptions padded = options(2, 10);
  core::PadParams pad;
  pad.field = "tokens";
  pad.to = 100;
  pad.length = "tokens_length";
  pad.mask = "tokens_mask";
  padded.collate.pad.push_back(pad);
  EXPECT_EQ(most_bytes(stream, padded), 3U * (400 + 32 + 400));
}

}  // namespace
}  // namespace tenon::engine
