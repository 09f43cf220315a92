// Batches of similar length.
#include <engine/data/buckets.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <engine/data/sampler.hpp>

namespace tenon::engine {
namespace {

constexpr int64_t kBatch = 8;

// Lengths of 0 to 99 in no order.
std::vector<int64_t> lengths(int64_t items) {
  std::vector<int64_t> all;
  for (int64_t item = 0; item < items; ++item) {
    all.push_back(item * 7919 % 100);
  }
  return all;
}

Sampler bucketed(int64_t items, bool shuffle, int64_t pool = 5, std::vector<int64_t> bounds = {}) {
  OrderOptions options;
  options.items = items;
  options.shuffle = shuffle;
  options.buckets = core::BucketParams{"tokens", std::move(bounds), pool};
  options.batch = kBatch;
  options.seed = 7;
  options.node = "train";
  return {options, {{}, {}, lengths(items)}};
}

std::vector<int64_t> samples_of(const EpochOrder& order) {
  std::vector<int64_t> samples;
  for (int64_t position = 0; position < order.size(); ++position) {
    samples.push_back(order[position]);
  }
  return samples;
}

// What padding each batch to its longest would add, over all.
int64_t padding(const std::vector<int64_t>& order, const std::vector<int64_t>& length) {
  int64_t sum = 0;
  for (std::size_t begin = 0; begin < order.size(); begin += kBatch) {
    const std::size_t end = std::min(order.size(), begin + kBatch);
    int64_t longest = 0;
    int64_t total = 0;
    for (std::size_t i = begin; i < end; ++i) {
      longest = std::max(longest, length[static_cast<std::size_t>(order[i])]);
      total += length[static_cast<std::size_t>(order[i])];
    }
    sum += longest * static_cast<int64_t>(end - begin) - total;
  }
  return sum;
}

TEST(Buckets, HoldEverySampleOnce) {
  for (const int64_t items : {1, 7, 8, 9, 39, 40, 41, 333}) {
    std::vector<int64_t> order = samples_of(bucketed(items, true).epoch(0));
    std::sort(order.begin(), order.end());
    std::vector<int64_t> all(static_cast<std::size_t>(items));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all) << items;
  }
}

TEST(Buckets, PadAFewthOfWhatAPlainOrderPads) {
  const std::vector<int64_t> length = lengths(4000);
  const int64_t plain = padding(samples_of(EpochOrder(4000, true, 7, "train", 0)), length);
  EXPECT_LT(padding(samples_of(bucketed(4000, true, 50).epoch(0)), length) * 10, plain);
}

TEST(Buckets, EpochsDifferInBatchesAndInTheirOrder) {
  const Sampler sampler = bucketed(400, true);
  const std::vector<int64_t> first = samples_of(sampler.epoch(0));
  EXPECT_EQ(samples_of(bucketed(400, true).epoch(0)), first);
  const std::vector<int64_t> second = samples_of(sampler.epoch(1));
  const auto batches = [](const std::vector<int64_t>& order) {
    std::set<std::set<int64_t>> all;
    for (std::size_t begin = 0; begin < order.size(); begin += kBatch) {
      all.emplace(order.begin() + static_cast<std::ptrdiff_t>(begin),
                  order.begin() + static_cast<std::ptrdiff_t>(begin + kBatch));
    }
    return all;
  };
  std::vector<std::set<int64_t>> both;
  const std::set<std::set<int64_t>> one = batches(first);
  const std::set<std::set<int64_t>> other = batches(second);
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(both));
  EXPECT_TRUE(both.empty());
}

// A batch comes from one pool of the shuffled order, and pools from all over the dataset.
TEST(Buckets, BatchesComeFromOnePoolAndAreShuffled) {
  const std::vector<int64_t> length = lengths(400);
  const std::vector<int64_t> plain = samples_of(EpochOrder(400, true, 7, "train", 0));
  const std::vector<int64_t> order = samples_of(bucketed(400, true).epoch(0));
  std::vector<std::size_t> pool_of(400);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    pool_of[static_cast<std::size_t>(plain[i])] = i / (5 * kBatch);
  }
  std::vector<std::size_t> pools;
  std::vector<int64_t> firsts;
  for (std::size_t begin = 0; begin < order.size(); begin += kBatch) {
    pools.push_back(pool_of[static_cast<std::size_t>(order[begin])]);
    firsts.push_back(length[static_cast<std::size_t>(order[begin])]);
    for (std::size_t i = begin + 1; i < begin + kBatch; ++i) {
      EXPECT_EQ(pool_of[static_cast<std::size_t>(order[i])], pools.back());
      EXPECT_LE(length[static_cast<std::size_t>(order[i - 1])], length[static_cast<std::size_t>(order[i])]);
    }
  }
  EXPECT_FALSE(std::is_sorted(pools.begin(), pools.end()));
  EXPECT_FALSE(std::is_sorted(firsts.begin(), firsts.end()));
}

TEST(Buckets, WithoutChanceStayInTheDatasetsPools) {
  const std::vector<int64_t> length = lengths(80);
  const std::vector<int64_t> order = samples_of(bucketed(80, false).epoch(0));
  EXPECT_EQ(samples_of(bucketed(80, false).epoch(3)), order);
  for (int64_t i = 0; i < 80; ++i) {
    EXPECT_EQ(order[static_cast<std::size_t>(i)] / 40, i / 40);
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.begin() + 40, [&](int64_t a, int64_t b) {
    return length[static_cast<std::size_t>(a)] < length[static_cast<std::size_t>(b)];
  }));
}

TEST(Buckets, TheRestIsThatOfTheOrderSoThatDroppingItPrefersNoLength) {
  const std::vector<int64_t> plain = samples_of(EpochOrder(403, true, 7, "train", 0));
  const std::vector<int64_t> order = samples_of(bucketed(403, true).epoch(0));
  EXPECT_TRUE(std::equal(plain.begin() + 400, plain.end(), order.begin() + 400));
}

TEST(Buckets, OneBucketsSamplesKeepTheirOrder) {
  const std::vector<int64_t> length = lengths(40);
  const std::vector<int64_t> plain = samples_of(EpochOrder(40, true, 7, "train", 0));
  std::vector<int64_t> order = plain;
  const std::vector<uint32_t> ranks = length_ranks(length, std::vector<int64_t>{30, 60});
  sort_into_buckets(order, ranks, kBatch, 5, std::nullopt);
  std::vector<int64_t> expected = plain;
  std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
    const auto bucket = [&](int64_t item) {
      const int64_t own = length[static_cast<std::size_t>(item)];
      return own < 30 ? 0 : own < 60 ? 1 : 2;
    };
    return bucket(a) < bucket(b);
  });
  EXPECT_EQ(order, expected);
}

TEST(Buckets, RanksOfLengthsAreTheirOrder) {
  EXPECT_EQ(length_ranks(std::vector<int64_t>{5, 0, INT64_MAX}, {}), (std::vector<uint32_t>{5, 0, UINT32_MAX}));
  EXPECT_EQ(length_ranks(std::vector<int64_t>{9, 10, 11, 20, 99}, std::vector<int64_t>{10, 20}),
            (std::vector<uint32_t>{0, 1, 1, 2, 2}));
}

TEST(Buckets, OfDrawnSamplesKeepTheirFrequencies) {
  OrderOptions options;
  options.items = 100;
  options.sampler.emplace().replacement = true;
  options.sampler->samples = 400;
  options.batch = kBatch;
  options.seed = 7;
  options.node = "train";
  std::vector<int64_t> plain = samples_of(Sampler(options, {}).epoch(0));
  options.buckets = core::BucketParams{"tokens", {}, 5};
  const EpochOrder order = Sampler(options, {{}, {}, lengths(100)}).epoch(0);
  std::vector<int64_t> sorted = samples_of(order);
  EXPECT_LT(padding(sorted, lengths(100)) * 3, padding(plain, lengths(100)));
  std::sort(plain.begin(), plain.end());
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, plain);
  EXPECT_EQ(order.occurrence(9), 9);
}

}  // namespace
}  // namespace tenon::engine
