// Orders, batches and ranks' parts.
#include <engine/data/order.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::engine {
namespace {

std::vector<int64_t> order(int64_t items, bool shuffle, uint64_t seed, const char* node, int64_t epoch) {
  const EpochOrder epoch_order(items, shuffle, seed, node, epoch);
  std::vector<int64_t> samples;
  for (int64_t position = 0; position < items; ++position) {
    samples.push_back(epoch_order[position]);
  }
  return samples;
}

TEST(EpochOrder, HoldsEverySampleOnce) {
  for (int64_t items = 0; items < 40; ++items) {
    std::vector<int64_t> shuffled = order(items, true, 7, "train", 3);
    std::sort(shuffled.begin(), shuffled.end());
    EXPECT_EQ(shuffled, order(items, false, 7, "train", 3));
  }
}

TEST(EpochOrder, IsTheDatasetsOwnWithoutShuffle) {
  EXPECT_EQ(order(4, false, 7, "train", 3), (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(EpochOrder, IsAFunctionOfSeedNodeAndEpoch) {
  const std::vector<int64_t> first = order(50, true, 7, "train", 0);
  EXPECT_EQ(order(50, true, 7, "train", 0), first);
  EXPECT_NE(order(50, true, 7, "train", 1), first);
  EXPECT_NE(order(50, true, 8, "train", 0), first);
  EXPECT_NE(order(50, true, 7, "other", 0), first);
}

TEST(EpochOrder, StaysWhatItWasInEarlierVersions) {
  EXPECT_EQ(order(12, true, 7, "train", 0), (std::vector<int64_t>{11, 10, 9, 6, 2, 7, 5, 0, 1, 8, 4, 3}));
  EXPECT_EQ(order(12, true, 7, "train", 3), (std::vector<int64_t>{6, 0, 4, 11, 1, 2, 8, 10, 9, 5, 7, 3}));
  EXPECT_EQ(order(7, true, 1, "val", 0), (std::vector<int64_t>{5, 4, 3, 1, 2, 0, 6}));
  uint64_t hash = 0;
  for (const int64_t sample : order(1300000, true, 42, "train", 5)) {
    hash = hash * 1099511628211U + static_cast<uint64_t>(sample);
  }
  EXPECT_EQ(hash, 12966422394318131830U);
}

TEST(EpochOrder, SubstitutesAreOfTheEpochAndDependOnThePlaceAlone) {
  const EpochOrder first(50, true, 7, "train", 0);
  const EpochOrder second(50, true, 7, "train", 1);
  int equal = 0;
  for (int64_t position = 0; position < 50; ++position) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const int64_t chosen = first.substitute(position, attempt);
      EXPECT_GE(chosen, 0);
      EXPECT_LT(chosen, 50);
      EXPECT_EQ(EpochOrder(50, true, 7, "train", 0).substitute(position, attempt), chosen);
      equal += chosen == second.substitute(position, attempt) ? 1 : 0;
      equal += chosen == first.substitute(position, attempt + 1) ? 1 : 0;
    }
    EXPECT_GE(first.substitute_occurrence(position), 50) << "no position's own";
  }
  EXPECT_LT(equal, 40) << "of 400 by chance 8";
}

TEST(EpochOrder, PutsEverySampleEverywhereEquallyOften) {
  constexpr int64_t kItems = 6;
  constexpr int kEpochs = 6000;
  std::vector<int> counts(kItems * kItems);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const std::vector<int64_t> shuffled = order(kItems, true, 1, "train", epoch);
    for (int64_t position = 0; position < kItems; ++position) {
      ++counts[static_cast<std::size_t>(position * kItems + shuffled[static_cast<std::size_t>(position)])];
    }
  }
  const double expected = static_cast<double>(kEpochs) / kItems;
  const double deviation = std::sqrt(expected * (1.0 - 1.0 / kItems));
  for (const int count : counts) {
    EXPECT_NEAR(count, expected, 5 * deviation);
  }
}

TEST(BatchPlan, CountsAShortLastBatchOnlyWhenItIsKept) {
  const auto batches = [](int64_t items, int64_t batch, LastBatch last) {
    return BatchPlan{items, batch, last}.batches();
  };
  EXPECT_EQ(batches(10, 4, LastBatch::kKeep), 3);
  EXPECT_EQ(batches(10, 4, LastBatch::kDrop), 2);
  EXPECT_EQ(batches(8, 4, LastBatch::kKeep), 2);
  EXPECT_EQ(batches(8, 4, LastBatch::kDrop), 2);
  EXPECT_EQ(batches(3, 4, LastBatch::kKeep), 1);
  EXPECT_EQ(batches(3, 4, LastBatch::kDrop), 0);
  EXPECT_EQ(batches(3, INT64_MAX, LastBatch::kKeep), 1);
}

TEST(BatchPlan, RanksPartsAreContiguousAndTogetherTheBatch) {
  for (const int64_t items : {1, 7, 21, 64}) {
    for (const int64_t batch : {1, 4, 5, 100}) {
      for (const int64_t world : {1, 2, 3, 8}) {
        int64_t position = 0;
        BatchPlan plan{items, batch, LastBatch::kKeep, 0, world};
        for (int64_t index = 0; index < plan.batches(); ++index) {
          int64_t least = INT64_MAX;
          int64_t most = 0;
          EXPECT_EQ(plan.whole(index).begin, position);
          for (plan.rank = 0; plan.rank < world; ++plan.rank) {
            const Slice slice = plan.slice(index);
            EXPECT_EQ(slice.begin, position);
            position = slice.end;
            least = std::min(least, slice.size());
            most = std::max(most, slice.size());
            EXPECT_LE(slice.size(), plan.capacity());
          }
          EXPECT_EQ(plan.whole(index).end, position);
          EXPECT_LE(most - least, 1);
        }
        EXPECT_EQ(position, items);
      }
    }
  }
}

TEST(BatchPlan, CutsABatchIntoEqualParts) {
  const BatchPlan plan{16, 8, LastBatch::kKeep, 1, 2};
  EXPECT_EQ(plan.slice(0), (Slice{4, 8}));
  EXPECT_EQ(plan.slice(1), (Slice{12, 16}));
}

}  // namespace
}  // namespace tenon::engine
