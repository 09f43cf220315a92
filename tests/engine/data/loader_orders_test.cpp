// Whatever makes an epoch and its batches - samplers, buckets, padding, lists, mixtures of samples, bad samples -
// leaves batches a function of their place: of no threads, ranks, or places where a run began.
#include <engine/data/loader.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <engine/data/batch_fixture.hpp>
#include <engine/data/samples.hpp>
#include <tenon/components/multi_sample.hpp>

namespace tenon::engine {
namespace {

using fakes::Copy;
using fakes::FunctionDataset;
using fakes::FunctionTransform;
using fakes::node;
using fakes::run;

constexpr int64_t kItems = 29;
constexpr int64_t kBatch = 4;
constexpr int64_t kEpochs = 3;

int64_t length_of(int64_t item) { return item * 7 % 5 + 1; }

/// Item i has 1 to 5 tokens, 0 to 2 boxes and the label i.
FunctionDataset texts(std::atomic<int>* reads = nullptr) {
  return FunctionDataset(
      kItems, {{"tokens", Dtype::kInt32, {"T"}}, {"boxes", Dtype::kFloat32, {"n", 2}}, {"label", Dtype::kInt64, {}}},
      [reads](int64_t index, Sample& out) {
        const auto tokens = out.allocate(0, Dtype::kInt32, Shape{length_of(index)}).as<int32_t>();
        std::iota(tokens.begin(), tokens.end(), static_cast<int32_t>(100 * index));
        const auto boxes = out.allocate(1, Dtype::kFloat32, Shape{index % 3, 2}).as<float>();
        std::ranges::fill(boxes, static_cast<float>(index));
        out.allocate(2, Dtype::kInt64, {}).as<int64_t>()[0] = index;
        if (reads != nullptr) ++*reads;
      });
}

/// Adds a draw to each token.
FunctionTransform noise() {
  return FunctionTransform([](Sample& sample, Rng& random, const When& /*when*/) {
    const Array in = sample.at("tokens");
    const Array out = sample.allocate("tokens", in.dtype, in.shape);
    std::ranges::transform(in.as<int32_t>(), out.as<int32_t>().begin(),
                           [&random](int32_t token) { return token + static_cast<int32_t>(random.integer(0, 99)); });
  });
}

/// Fails by chance.
FunctionTransform fragile(double probability) {
  return FunctionTransform([probability](Sample& /*sample*/, Rng& random, const When& /*when*/) {
    if (random.chance(probability)) throw std::runtime_error("broken");
  });
}

/// Adds to the label a thousand times that of another sample.
class Borrow final : public Transform, public MultiSample {
 public:
  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<MultiSample*>(this) : nullptr;
  }
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const override {}
  [[nodiscard]] int64_t others() const noexcept override { return 1; }
  void apply_with(Sample& sample, std::span<const Sample* const> others, Rng& /*random*/,
                  const When& /*when*/) const override {
    const auto label = [](const Sample& of) { return of.at("label").as<int64_t>()[0]; };
    const int64_t own = label(sample);
    sample.allocate("label", Dtype::kInt64, {}).as<int64_t>()[0] = own + 1000 * label(*others[0]);
  }
};

/// How epochs are made.
struct Way {
  const char* name;
  bool shuffle = false;
  std::optional<core::SamplerParams> sampler = {};
  std::optional<core::BucketParams> buckets = {};
  std::optional<core::BadSamplePolicy> bad = {};
};

core::SamplerParams sampler_of(const char* kind, std::optional<bool> replacement, std::optional<int64_t> samples = {}) {
  core::SamplerParams params;
  if (kind == std::string_view("weights")) params.weights = "weight";
  if (kind == std::string_view("balance")) params.balance = "class";
  params.replacement = replacement;
  params.samples = samples;
  return params;
}

std::vector<Way> ways() {
  const core::BucketParams by_length{"tokens", {}, 3};
  return {
      {"Shuffled", true},
      {"Weighted", false, sampler_of("weights", {})},
      {"WeightedOnce", false, sampler_of("weights", false, 17)},
      {"Balanced", false, sampler_of("balance", {}, 41)},
      {"Replaced", false, sampler_of("", true)},
      {"Fewer", true, sampler_of("", false, 11)},
      {"Buckets", true, {}, by_length},
      {"BucketsInOrder", false, {}, core::BucketParams{"tokens", {2, 4}, 2}},
      {"BalancedBuckets", false, sampler_of("balance", {}), by_length},
      {"Skipped", true, {}, {}, core::BadSamplePolicy::kSkip},
      {"Substituted", true, {}, {}, core::BadSamplePolicy::kSubstitute},
      {"ReplacedAndSubstituted", false, sampler_of("", true), {}, core::BadSamplePolicy::kSubstitute},
      {"BucketsAndSkipped", true, {}, by_length, core::BadSamplePolicy::kSkip},
  };
}

class LoaderOrders : public testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] LoaderOptions options(int workers, int64_t rank = 0, int64_t world = 1) const {
    LoaderOptions options;
    options.node = "train";
    options.batch = kBatch;
    options.shuffle = GetParam().shuffle;
    options.sampler = sampler_;
    if (GetParam().bad) options.bad_sample = core::BadSampleParams{*GetParam().bad, 1000};
    options.collate.pad = {tokens_};
    options.collate.lists = {"boxes"};
    options.workers = workers;
    options.prefetch = 3;
    options.rank = rank;
    options.world = world;
    return options;
  }

  static std::shared_ptr<const Sampler> make_sampler(const Way& way) {
    if (!way.sampler && !way.buckets) return nullptr;
    OrderColumns columns;
    for (int64_t item = 0; item < kItems; ++item) {
      columns.weights.push_back(static_cast<double>(item % 4 + 1));
      columns.classes.push_back(item < 20 ? 0 : item < 27 ? 1 : 2);
      columns.lengths.push_back(length_of(item));
    }
    return std::make_shared<const Sampler>(OrderOptions{.items = kItems,
                                                        .shuffle = way.shuffle,
                                                        .sampler = way.sampler,
                                                        .buckets = way.buckets,
                                                        .batch = kBatch,
                                                        .seed = 7,
                                                        .node = "train"},
                                           std::move(columns));
  }

  [[nodiscard]] std::vector<Copy> all() const {
    Loader plain(stream_, options(0));
    return run(plain, 0, 0, kEpochs);
  }

  std::shared_ptr<const Sampler> sampler_ = make_sampler(GetParam());
  core::PadParams tokens_ = [] {
    core::PadParams tokens = fakes::pad("tokens");
    tokens.value = -1;
    tokens.length = "tokens_length";
    tokens.mask = "tokens_mask";
    return tokens;
  }();
  std::atomic<int> reads_ = 0;
  FunctionDataset dataset_ = texts(&reads_);
  FunctionTransform noise_ = noise();
  FunctionTransform fragile_ = fragile(GetParam().bad ? 0.15 : 0);
  Borrow borrow_;
  Stream stream_{node(dataset_), {node("noise", noise_), node("fragile", fragile_), node("borrow", borrow_)}, 7};
};
INSTANTIATE_TEST_SUITE_P(Ways, LoaderOrders, testing::ValuesIn(ways()),
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(LoaderOrders, TakeTheSamplesOfTheSamplersOrder) {
  const std::vector<Copy> batches = all();
  std::size_t differ = 0;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<int64_t> expected;
    const EpochOrder order =
        sampler_ != nullptr ? sampler_->epoch(epoch) : EpochOrder(kItems, GetParam().shuffle, 7, "train", epoch);
    for (int64_t position = 0; position < order.size(); ++position) expected.push_back(order[position]);
    std::vector<int64_t> taken;
    for (const Copy& batch : batches) {
      if (batch.epoch == epoch) taken.insert(taken.end(), batch.ids.begin(), batch.ids.end());
    }
    if (!GetParam().bad) {
      EXPECT_EQ(taken, expected) << "epoch " << epoch;
    }
    differ += taken == expected ? 0U : 1U;
  }
  if (GetParam().bad) {
    EXPECT_GT(differ, 0U) << "no sample was bad";
  }
}

TEST_P(LoaderOrders, DoNotDependOnThreads) {
  const std::vector<Copy> expected = all();
  for (const int workers : {1, 2, 8}) {
    Loader loader(stream_, options(workers));
    EXPECT_EQ(run(loader, 0, 0, kEpochs), expected) << workers << " workers";
  }
}

TEST_P(LoaderOrders, GoOnFromEveryPlaceAndReadNothingBeforeIt) {
  const std::vector<Copy> expected = all();
  for (const int workers : {0, 3}) {
    for (std::size_t skipped = 0; skipped <= expected.size(); ++skipped) {
      Loader loader(stream_, options(workers));
      const auto batches = static_cast<std::size_t>(loader.batches());
      reads_ = 0;
      const std::vector<Copy> rest =
          run(loader, static_cast<int64_t>(skipped / batches), static_cast<int64_t>(skipped % batches), kEpochs);
      const std::vector<Copy> tail(expected.begin() + static_cast<std::ptrdiff_t>(skipped), expected.end());
      ASSERT_EQ(rest, tail) << skipped << " skipped, " << workers << " workers";
      if (GetParam().bad) continue;  // some are read in vain
      std::size_t samples = 0;
      for (const Copy& batch : tail) samples += batch.ids.size();
      EXPECT_EQ(reads_, static_cast<int>(2 * samples)) << "each sample and the one that it borrows from";
    }
  }
}

TEST_P(LoaderOrders, JoinFromRanksToTheBatchesOfOne) {
  tokens_.to = 6;  // else each rank pads to the longest of its own part
  const std::vector<Copy> expected = all();
  for (const int workers : {0, 2}) {
    for (const int64_t world : {2, 3}) {
      std::vector<Copy> joined(expected.size());
      for (int64_t rank = 0; rank < world; ++rank) {
        Loader loader(stream_, options(workers, rank, world));
        const std::vector<Copy> parts = run(loader, 0, 0, kEpochs);
        ASSERT_EQ(parts.size(), expected.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
          joined[i].ids.insert(joined[i].ids.end(), parts[i].ids.begin(), parts[i].ids.end());
          joined[i].bytes.resize(parts[i].bytes.size());
          for (std::size_t field = 0; field < parts[i].bytes.size(); ++field) {
            joined[i].bytes[field] += parts[i].bytes[field];
          }
        }
      }
      for (std::size_t i = 0; i < joined.size(); ++i) {
        EXPECT_EQ(joined[i].ids, expected[i].ids) << world << " ranks, batch " << i;
        EXPECT_EQ(joined[i].bytes, expected[i].bytes) << world << " ranks, batch " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tenon::engine
