// Orders by weights, classes and counts: how often each sample comes, and what must not matter.
#include <engine/data/sampler.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

OrderOptions options(int64_t items) {
  OrderOptions options;
  options.items = items;
  options.seed = 7;
  options.node = "train";
  return options;
}

core::SamplerParams weighted() {
  core::SamplerParams params;
  params.weights = "w";
  return params;
}

core::SamplerParams balanced() {
  core::SamplerParams params;
  params.balance = "label";
  return params;
}

std::vector<int64_t> samples_of(const EpochOrder& order) {
  std::vector<int64_t> samples;
  for (int64_t position = 0; position < order.size(); ++position) {
    samples.push_back(order[position]);
  }
  return samples;
}

std::vector<int64_t> counts_of(const EpochOrder& order, std::size_t items) {
  std::vector<int64_t> counts(items);
  for (const int64_t sample : samples_of(order)) {
    ++counts[static_cast<std::size_t>(sample)];
  }
  return counts;
}

// Pearson's statistic over its degrees of freedom: near 1 where the counts are by chance, and above 2 hardly ever.
double misfit(const std::vector<int64_t>& counts, const std::vector<double>& shares) {
  const auto total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  double sum = 0;
  int64_t degrees = -1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (shares[i] == 0) {
      EXPECT_EQ(counts[i], 0) << i;
      continue;
    }
    const double expected = shares[i] * total;
    sum += (static_cast<double>(counts[i]) - expected) * (static_cast<double>(counts[i]) - expected) / expected;
    ++degrees;
  }
  return sum / static_cast<double>(degrees);
}

TEST(Sampler, WithoutASamplerGivesThePlainOrders) {
  for (const bool shuffle : {false, true}) {
    OrderOptions plain = options(500);
    plain.shuffle = shuffle;
    const Sampler sampler(plain, {});
    EXPECT_EQ(sampler.samples(), 500);
    EXPECT_FALSE(sampler.repeats());
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      EXPECT_EQ(samples_of(sampler.epoch(epoch)), samples_of(EpochOrder(500, shuffle, 7, "train", epoch)));
      EXPECT_EQ(sampler.epoch(epoch).occurrence(17), 0);
    }
  }
}

TEST(Sampler, FewerSamplesAreThoseThatComeFirst) {
  for (const bool shuffle : {false, true}) {
    OrderOptions some = options(500);
    some.shuffle = shuffle;
    some.sampler.emplace().samples = 40;
    const Sampler sampler(some, {});
    EXPECT_EQ(sampler.samples(), 40);
    std::vector<int64_t> whole = samples_of(EpochOrder(500, shuffle, 7, "train", 2));
    whole.resize(40);
    EXPECT_EQ(samples_of(sampler.epoch(2)), whole);
  }
}

TEST(Sampler, WithReplacementDrawsEachItemEquallyOften) {
  OrderOptions repeated = options(50);
  repeated.sampler.emplace().replacement = true;
  repeated.sampler->samples = 20000;
  const Sampler sampler(repeated, {});
  EXPECT_TRUE(sampler.repeats());
  EXPECT_LT(misfit(counts_of(sampler.epoch(0), 50), std::vector<double>(50, 1.0 / 50)), 2);
}

TEST(Sampler, OfAnEmptyDatasetThereIsNothingToDrawWhateverTheNumberOfSamples) {
  OrderOptions repeated = options(0);
  repeated.sampler.emplace().replacement = true;
  repeated.sampler->samples = 100;
  try {
    const Sampler sampler(repeated, {});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_EQ(std::string(error.what()), "loader \"train\": its dataset is empty: there is nothing to draw");
  }
}

TEST(Sampler, DrawsInProportionToWeights) {
  OrderOptions by_weight = options(20);
  by_weight.sampler = weighted();
  by_weight.sampler->samples = 40000;
  std::vector<double> weights(20);
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = i % 5 == 0 ? 0 : static_cast<double>(i * i);  // the first and others are never drawn
    sum += weights[i];
  }
  weights.back() = 0;  // and the last
  sum -= 19 * 19;
  const Sampler sampler(by_weight, {weights, {}, {}});
  std::vector<double> shares = weights;
  for (double& share : shares) {
    share /= sum;
  }
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_LT(misfit(counts_of(sampler.epoch(epoch), 20), shares), 2) << epoch;
  }
}

TEST(Sampler, NeverDrawsAnItemWithoutWeightHoweverSmallTheOthers) {
  OrderOptions by_weight = options(3);
  by_weight.sampler = weighted();
  by_weight.sampler->samples = 1000;
  const Sampler sampler(by_weight, {{0, std::numeric_limits<double>::denorm_min(), 0}, {}, {}});
  EXPECT_EQ(counts_of(sampler.epoch(0), 3), (std::vector<int64_t>{0, 1000, 0}));
}

TEST(Sampler, DrawsEachClassEquallyOftenAndItsItemsAlike) {
  OrderOptions by_class = options(111);
  by_class.sampler = balanced();
  by_class.sampler->samples = 30000;
  std::vector<int32_t> classes(111, 2);
  std::fill_n(classes.begin(), 10, 1);
  classes[60] = 0;
  classes[61] = -1;
  const Sampler sampler(by_class, {{}, classes, {}});
  std::vector<double> shares(classes.size());
  std::transform(classes.begin(), classes.end(), shares.begin(), [](int32_t each) {
    return each < 0 ? 0 : each == 0 ? 1.0 / 3 : each == 1 ? 1.0 / 30 : 1.0 / 297;
  });
  EXPECT_LT(misfit(counts_of(sampler.epoch(0), 111), shares), 2);
}

TEST(Sampler, EpochsOrdersDifferAndAreAFunctionOfSeedNodeAndEpoch) {
  for (int kind = 0; kind < 4; ++kind) {
    OrderOptions each = options(100);
    OrderColumns columns;
    if (kind == 0) {
      each.sampler.emplace().replacement = true;
    } else if (kind == 1) {
      each.sampler = balanced();
      columns.classes.assign(100, 0);
    } else {
      each.sampler = weighted();
      columns.weights.assign(100, 0.5);
      if (kind == 3) {
        each.sampler->replacement = false;
        each.sampler->samples = 60;
      }
    }
    const Sampler sampler(each, columns);
    const std::vector<int64_t> first = samples_of(sampler.epoch(0));
    EXPECT_EQ(samples_of(sampler.epoch(0)), first);
    EXPECT_EQ(samples_of(Sampler(each, columns).epoch(0)), first);
    EXPECT_NE(samples_of(sampler.epoch(1)), first);
    OrderOptions other = each;
    other.seed = 8;
    EXPECT_NE(samples_of(Sampler(other, columns).epoch(0)), first);
    other = each;
    other.node = "val";
    EXPECT_NE(samples_of(Sampler(other, columns).epoch(0)), first);
  }
}

TEST(Sampler, ARepeatedSampleHasAnotherOccurrenceEachTime) {
  OrderOptions repeated = options(5);
  repeated.sampler.emplace().replacement = true;
  repeated.sampler->samples = 200;
  const EpochOrder order = Sampler(repeated, {}).epoch(0);
  std::set<std::pair<int64_t, int64_t>> keys;
  for (int64_t position = 0; position < order.size(); ++position) {
    EXPECT_TRUE(keys.emplace(order[position], order.occurrence(position)).second);
    EXPECT_TRUE(keys.emplace(order.substitute(position, 0), order.substitute_occurrence(position)).second);
  }
}

TEST(Sampler, WithoutReplacementGivesEachItemOnceAtMost) {
  OrderOptions by_weight = options(200);
  by_weight.sampler = weighted();
  by_weight.sampler->replacement = false;
  by_weight.sampler->samples = 120;
  std::vector<double> weights(200, 1);
  std::fill_n(weights.begin(), 80, 0);
  const Sampler sampler(by_weight, {weights, {}, {}});
  EXPECT_FALSE(sampler.repeats());
  std::vector<int64_t> all = samples_of(sampler.epoch(0));
  EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  std::vector<int64_t> expected(120);
  std::iota(expected.begin(), expected.end(), 80);
  EXPECT_EQ(all, expected) << "all that have a weight, when so many are asked for";
}

// P(i is drawn first) is its share; P(second) follows from it: here against the exact values for two of three.
TEST(Sampler, WithoutReplacementDrawsInProportionToWhatIsLeft) {
  OrderOptions by_weight = options(3);
  by_weight.sampler = weighted();
  by_weight.sampler->replacement = false;
  by_weight.sampler->samples = 2;
  const Sampler sampler(by_weight, {{1, 2, 5}, {}, {}});
  constexpr int kEpochs = 20000;
  std::vector<int64_t> left_out(3);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const EpochOrder order = sampler.epoch(epoch);
    ++left_out[static_cast<std::size_t>(3 - order[0] - order[1])];
  }
  const double none = 2.0 / 8 * 5 / 6 + 5.0 / 8 * 2 / 3;
  const double one = 1.0 / 8 * 5 / 7 + 5.0 / 8 * 1 / 3;
  EXPECT_LT(misfit(left_out, {none, one, 1 - none - one}), 4);
}

TEST(Sampler, BalancedWithoutReplacementTakesEveryClassAlike) {
  OrderOptions by_class = options(1100);
  by_class.sampler = balanced();
  by_class.sampler->replacement = false;
  by_class.sampler->samples = 40;
  std::vector<int32_t> classes(1100, 0);
  std::fill_n(classes.begin(), 100, 1);
  const Sampler sampler(by_class, {{}, classes, {}});
  int64_t rare = 0;
  for (int64_t epoch = 0; epoch < 100; ++epoch) {
    for (const int64_t sample : samples_of(sampler.epoch(epoch))) {
      rare += sample < 100 ? 1 : 0;
    }
  }
  EXPECT_NEAR(static_cast<double>(rare), 1800, 300) << "nearly half of 4000, not a 11th; a class that shrinks lags";
}

TEST(Sampler, RanksPartsHoldEachPositionOnce) {
  OrderOptions by_weight = options(30);
  by_weight.sampler = weighted();
  by_weight.sampler->samples = 101;
  const Sampler sampler(by_weight, {std::vector<double>(30, 2), {}, {}});
  const EpochOrder order = sampler.epoch(4);
  for (const int64_t world : {1, 2, 3}) {
    std::vector<int64_t> all;
    BatchPlan plan{sampler.samples(), 8, LastBatch::kKeep, 0, world};
    for (int64_t index = 0; index < plan.batches(); ++index) {
      for (plan.rank = 0; plan.rank < world; ++plan.rank) {
        const Slice slice = plan.slice(index);
        for (int64_t position = slice.begin; position < slice.end; ++position) {
          all.push_back(order[position]);
        }
      }
    }
    EXPECT_EQ(all, samples_of(order)) << world;
  }
}

TEST(Sampler, RefusesWhatTheDatasetCannotFulfil) {
  const auto refused = [](ErrorCode code, const OrderOptions& wrong, OrderColumns columns, const char* pointer) {
    try {
      const Sampler sampler(wrong, std::move(columns));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(error.pointer(), pointer);
      return std::string(error.what());
    }
    ADD_FAILURE() << "no error";
    return std::string();
  };
  OrderOptions more = options(10);
  more.sampler.emplace().samples = 11;
  EXPECT_EQ(refused(ErrorCode::kConfig, more, {}, "/sampler/samples"),
            "loader \"train\": an epoch of 11 samples without replacement, but there are 10 to draw from");
  OrderOptions by_weight = options(3);
  by_weight.sampler = weighted();
  EXPECT_EQ(refused(ErrorCode::kData, by_weight, {{1, -1, 1}, {}, {}}, "/sampler/weights"),
            "loader \"train\": item 1 has -1 in \"w\": a weight is a finite number from 0 on");
  EXPECT_EQ(refused(ErrorCode::kData, by_weight, {{1, 1, NAN}, {}, {}}, "/sampler/weights"),
            "loader \"train\": item 2 has nan in \"w\": a weight is a finite number from 0 on");
  EXPECT_EQ(refused(ErrorCode::kData, by_weight, {{0, 0, 0}, {}, {}}, "/sampler/weights"),
            "loader \"train\": all weights of \"w\" are 0: there is nothing to draw");
  EXPECT_EQ(refused(ErrorCode::kData, by_weight, {{1e308, 1e308, 0}, {}, {}}, "/sampler/weights"),
            "loader \"train\": the weights of \"w\" have no finite sum");
  by_weight.sampler->replacement = false;
  by_weight.sampler->samples = 2;
  EXPECT_EQ(refused(ErrorCode::kConfig, by_weight, {{0, 1, 0}, {}, {}}, "/sampler/samples"),
            "loader \"train\": an epoch of 2 samples without replacement, but there are 1 to draw from");
  by_weight.sampler->samples.reset();
  EXPECT_EQ(refused(ErrorCode::kConfig, by_weight, {{1, 1, 1}, {}, {}}, "/sampler/replacement"),
            "loader \"train\": without replacement each sample comes once, whatever its weight");
  OrderOptions by_class = options(2);
  by_class.sampler = balanced();
  EXPECT_EQ(refused(ErrorCode::kData, by_class, {{}, {-1, -1}, {}}, "/sampler/balance"),
            "loader \"train\": no item has a class in \"label\"");
  by_class.shuffle = true;
  EXPECT_EQ(refused(ErrorCode::kConfig, by_class, {{}, {0, 0}, {}}, "/shuffle"),
            "loader \"train\": what the sampler draws has no order that could be shuffled");
}

}  // namespace
}  // namespace tenon::engine
