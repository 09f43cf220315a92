// Bad samples: what leaves a batch, what stands in, what ends the run, and that threads do not matter.
#include <engine/data/batch_job.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <engine/data/batch_fixture.hpp>
#include <engine/data/sampler.hpp>

namespace tenon::engine {
namespace {

using fakes::BatchMaker;
using fakes::error_of;
using fakes::FakeDataset;
using fakes::FunctionDataset;
using fakes::FunctionTransform;
using fakes::layout_of;
using fakes::pad;
using fakes::values;

constexpr int64_t kItems = 60;

bool is_bad(int64_t index) { return index % 7 == 3; }

std::shared_ptr<const EpochOrder> order(int64_t epoch = 0, int64_t items = kItems) {
  return std::make_shared<const EpochOrder>(items, true, 7, "train", epoch);
}

CollateOptions on_bad(OnBadSample bad) {
  CollateOptions options;
  options.bad = bad;
  return options;
}

std::string message_of(int64_t sample, int64_t epoch = 0) {
  return "\"data\" (dataset:fake), sample " + std::to_string(sample) + " of \"data\", epoch " + std::to_string(epoch) +
         ": file " + std::to_string(sample) + " is damaged";
}

class BadSamples : public testing::TestWithParam<int> {
 protected:
  BadSamples() {
    dataset_.before([](int64_t index) {
      std::this_thread::sleep_for(std::chrono::microseconds(index * 37 % 100));
      if (is_bad(index)) throw std::runtime_error("file " + std::to_string(index) + " is damaged");
    });
  }

  Batch make(OnBadSample bad, int threads, Slice slice = {0, 20}) {
    const BatchLayout layout = layout_of(stream_, 20, on_bad(bad));
    return BatchMaker(stream_, layout, threads).make(BatchJob::request(order(), slice, 0, 1, 0));
  }

  FakeDataset dataset_{kItems};
  FunctionTransform noise_ = fakes::noise();
  Stream stream_{{"data", "dataset:fake", &dataset_}, {{"noise", "transform:noise", &noise_}}, 7};
};
INSTANTIATE_TEST_SUITE_P(Workers, BadSamples, testing::Values(0, 1, 2, 4));

TEST_P(BadSamples, EndTheRunByDefault) {
  const auto samples = order();
  int64_t first = 0;
  while (!is_bad((*samples)[first])) ++first;
  EXPECT_EQ(error_of(ErrorCode::kData, [&] { (void)make(OnBadSample::kFail, GetParam()); }),
            message_of((*samples)[first]));
}

TEST_P(BadSamples, SkippedLeaveTheBatchAndAreTold) {
  const auto samples = order();
  const Batch batch = make(OnBadSample::kSkip, GetParam());
  std::vector<int64_t> kept;
  std::vector<int64_t> lost;
  for (int64_t position = 0; position < 20; ++position) {
    (is_bad((*samples)[position]) ? lost : kept).push_back((*samples)[position]);
  }
  ASSERT_FALSE(lost.empty());
  EXPECT_EQ(batch.samples, static_cast<int64_t>(kept.size()));
  EXPECT_EQ(batch.sample_ids, kept);
  EXPECT_EQ(values<int64_t>(batch, "label"), kept);
  ASSERT_EQ(batch.bad.size(), lost.size());
  for (std::size_t i = 0; i < lost.size(); ++i) {
    EXPECT_EQ(batch.bad[i].sample, lost[i]);
    EXPECT_EQ(batch.bad[i].substitute, -1);
    EXPECT_EQ(batch.bad[i].node, "data");
    EXPECT_EQ(batch.bad[i].message, message_of(lost[i]));
  }
}

TEST_P(BadSamples, SkippedChangeNothingOfTheOthers) {
  const Batch batch = make(OnBadSample::kSkip, GetParam());
  const BatchLayout layout = layout_of(stream_, 20);
  BatchMaker alone(stream_, layout, 0);
  for (std::size_t i = 0; i < batch.sample_ids.size(); ++i) {
    const Batch one = alone.make_of({batch.sample_ids[i]});
    for (std::size_t field = 0; field < one.fields.size(); ++field) {
      const std::size_t bytes = fakes::copy_of(one).bytes[field].size();
      EXPECT_EQ(fakes::copy_of(one).bytes[field], fakes::copy_of(batch).bytes[field].substr(i * bytes, bytes));
    }
  }
}

TEST_P(BadSamples, SubstitutesStandInAndFillTheBatch) {
  const auto samples = order();
  const Batch batch = make(OnBadSample::kSubstitute, GetParam());
  EXPECT_EQ(batch.samples, 20);
  EXPECT_EQ(values<int64_t>(batch, "label"), batch.sample_ids);
  std::size_t bad = 0;
  for (int64_t position = 0; position < 20; ++position) {
    const int64_t sample = (*samples)[position];
    const int64_t there = batch.sample_ids[static_cast<std::size_t>(position)];
    EXPECT_FALSE(is_bad(there));
    if (!is_bad(sample)) {
      EXPECT_EQ(there, sample);
      continue;
    }
    ASSERT_LT(bad, batch.bad.size());
    EXPECT_EQ(batch.bad[bad].sample, sample);
    EXPECT_EQ(batch.bad[bad].substitute, there);
    EXPECT_EQ(batch.bad[bad].message, message_of(sample));
    ++bad;
  }
  EXPECT_EQ(bad, batch.bad.size());
  EXPECT_GT(bad, 0U);
}

TEST_P(BadSamples, GiveTheSameBytesOnAnyNumberOfThreads) {
  for (const OnBadSample bad : {OnBadSample::kSkip, OnBadSample::kSubstitute}) {
    EXPECT_EQ(fakes::copy_of(make(bad, GetParam())), fakes::copy_of(make(bad, 0)));
  }
}

TEST_P(BadSamples, AreNotThoseForWhichTheMachineHasNoMemoryOrHandles) {
  const std::vector<std::pair<ErrorCode, std::function<void()>>> faults{
      {ErrorCode::kMemory, [] { throw Error(ErrorCode::kMemory, "not enough memory to decode it"); }},
      {ErrorCode::kMemory, [] { throw std::bad_alloc(); }},
      {ErrorCode::kStorage, [] { throw Error(ErrorCode::kStorage, "Too many open files"); }}};
  for (const auto& [code, fault] : faults) {
    dataset_.before([&, &fault = fault](int64_t index) {
      if (is_bad(index)) fault();
    });
    for (const OnBadSample bad : {OnBadSample::kSkip, OnBadSample::kSubstitute}) {
      EXPECT_NE(error_of(code, [&] { (void)make(bad, GetParam()); }).find("\"data\" (dataset:fake), sample "),
                std::string::npos);
    }
  }
}

TEST_P(BadSamples, AWholeBatchMayBeSkipped) {
  dataset_.before([](int64_t) { throw std::runtime_error("all are damaged"); });
  const Batch batch = make(OnBadSample::kSkip, GetParam());
  EXPECT_EQ(batch.samples, 0);
  EXPECT_EQ(batch.bad.size(), 20U);
  EXPECT_EQ(batch.fields[0].shape, (Shape{0, 1, 4, 4}));
}

TEST_P(BadSamples, ThatNoneCanReplaceEndTheRun) {
  dataset_.before([](int64_t) { throw std::runtime_error("all are damaged"); });
  const std::string message = error_of(ErrorCode::kData, [&] { (void)make(OnBadSample::kSubstitute, GetParam()); });
  EXPECT_TRUE(message.starts_with("\"data\" (dataset:fake), sample " + std::to_string((*order())[0]) + " of"))
      << message;
  EXPECT_TRUE(message.ends_with("other samples in its place could not be made either")) << message;
}

// A substitute of the same dataset index as another sample of the epoch is not its copy.
TEST(BadSamplesOnce, ASubstituteHasRandomNumbersOfItsOwn) {
  FakeDataset dataset(2);
  dataset.before([](int64_t index) {
    if (index == 0) throw std::runtime_error("damaged");
  });
  const FunctionTransform noise([](Sample& sample, Rng& random, const When&) {
    sample.allocate("label", Dtype::kInt64, {}).as<int64_t>()[0] = random.bits();
  });
  const Stream stream({"data", "dataset:fake", &dataset}, {{"noise", "transform:noise", &noise}}, 7);
  const BatchLayout layout = layout_of(stream, 2, on_bad(OnBadSample::kSubstitute));
  const auto all = std::make_shared<const EpochOrder>(2, false, 7, "train", 0);
  const Batch batch = BatchMaker(stream, layout, 0).make(BatchJob::request(all, {0, 2}, 0, 1, 0));
  EXPECT_EQ(batch.sample_ids, (std::vector<int64_t>{1, 1}));
  EXPECT_NE(values<int64_t>(batch, "label")[0], values<int64_t>(batch, "label")[1]);
}

TEST(BadSamplesOnce, ARepeatedSampleHasOtherRandomNumbersEachTime) {
  const FakeDataset dataset(3);
  const FunctionTransform noise([](Sample& sample, Rng& random, const When&) {
    sample.allocate("label", Dtype::kInt64, {}).as<int64_t>()[0] = random.bits();
  });
  const Stream stream({"data", "dataset:fake", &dataset}, {{"noise", "transform:noise", &noise}}, 7);
  OrderOptions options;
  options.items = 3;
  options.sampler.emplace().replacement = true;
  options.sampler->samples = 100;
  const auto drawn = std::make_shared<const EpochOrder>(Sampler(options, {}).epoch(0));
  const BatchLayout layout = layout_of(stream, 100);
  const Batch batch = BatchMaker(stream, layout, 0).make(BatchJob::request(drawn, {0, 100}, 0, 1, 0));
  const std::vector<int64_t> labels = values<int64_t>(batch, "label");
  EXPECT_EQ(std::set<int64_t>(labels.begin(), labels.end()).size(), 100U);
  const Batch part = BatchMaker(stream, layout, 0).make(BatchJob::request(drawn, {40, 60}, 0, 1, 0));
  EXPECT_EQ(values<int64_t>(part, "label"), std::vector<int64_t>(labels.begin() + 40, labels.begin() + 60))
      << "whatever the batch that a position is in";
}

// The first to arrive gives the shape of a free axis: it may be one that is skipped.
TEST_P(BadSamples, OfAnotherShapeDoNotSpoilTheBatch) {
  const FunctionDataset dataset(8, {{"x", Dtype::kInt32, {Dim()}}}, [](int64_t index, Sample& out) {
    const Array x = out.allocate(0, Dtype::kInt32, Shape{index < 2 ? 5 : 3});
    std::ranges::fill(x.as<int32_t>(), static_cast<int32_t>(index));
    if (index < 2) throw std::runtime_error("cut off");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const Stream stream({"data", "dataset:ragged", &dataset}, {}, 7);
  core::PadParams padded = pad("x");
  padded.to = 6;
  for (CollateOptions options :
       {CollateOptions{}, CollateOptions{{pad("x")}, {}}, CollateOptions{{}, {"x"}}, CollateOptions{{padded}, {}}}) {
    options.bad = OnBadSample::kSkip;
    const BatchLayout layout = layout_of(stream, 8, options);
    const Batch batch = BatchMaker(stream, layout, GetParam()).make_of({0, 5, 1, 6, 7});
    EXPECT_EQ(batch.samples, 3);
    std::vector<int32_t> expected;
    for (const int32_t index : {5, 6, 7}) {
      expected.insert(expected.end(), 3, index);
      if (layout.fields[0].to) expected.insert(expected.end(), 3, 0);
    }
    EXPECT_EQ(values<int32_t>(batch, "x"), expected);
  }
}

TEST(BadSamplesOnce, MemoryThatIsMissingIsNoFaultOfTheSamples) {
  const FunctionDataset dataset(4, {{"x", Dtype::kInt32, {Dim()}}},
                                [](int64_t, Sample& out) { (void)out.allocate(0, Dtype::kInt32, Shape{3}); });
  const Stream stream({"data", "dataset:ragged", &dataset}, {}, 7);
  const BatchLayout layout = layout_of(stream, 4, on_bad(OnBadSample::kSkip));
  std::deque<Worker> workers(1);
  TaskPool pool(0);
  const auto slots =
      std::make_shared<SlotPool>(1, [](std::size_t) -> std::shared_ptr<void> { throw std::bad_alloc(); });
  BatchJob::Request request;
  request.samples = {0, 1, 2};
  pool.submit(std::make_shared<BatchJob>(stream, layout, workers, slots->acquire(), request));
  EXPECT_EQ(error_of(ErrorCode::kMemory, [&] { (void)static_cast<BatchJob&>(*pool.take()).finish(); }),
            "no memory for field \"x\" of a batch of 3 samples: std::bad_alloc");
}

TEST(BadSampleCounts, HoldForAnEpochAndNameTheOneThatIsTooMany) {
  BadSampleCount count(core::BadSampleParams{core::BadSamplePolicy::kSkip, 7});
  const auto take = [&](int64_t epoch, int64_t index, int64_t bad) {
    Batch batch;
    batch.epoch = epoch;
    batch.index = index;
    for (int64_t i = 0; i < bad; ++i) {
      batch.bad.push_back({i, -1, message_of(i, epoch), "data"});
    }
    count.take(batch);
  };
  take(0, 0, 3);
  take(0, 1, 4);
  EXPECT_EQ(count.in_epoch(), 7);
  take(1, 0, 7);
  EXPECT_EQ(count.in_epoch(), 7) << "another epoch begins from 0";
  EXPECT_EQ(error_of(ErrorCode::kData, [&] { take(1, 1, 1); }),
            message_of(0, 1) + "; epoch 1 had 7 bad samples before, and bad_sample allows no more");
  take(1, 0, 2);
  EXPECT_EQ(count.in_epoch(), 2) << "an epoch that is read over again";
}

TEST(BadSampleCounts, KeepWhatWasNotToldOverTheEndsOfEpochs) {
  BadSampleCount count(core::BadSampleParams{core::BadSamplePolicy::kSkip, 100});
  const auto take = [&](int64_t epoch, int64_t index, int64_t first, int64_t bad) {
    Batch batch;
    batch.epoch = epoch;
    batch.index = index;
    for (int64_t i = 0; i < bad; ++i) batch.bad.push_back({first + i, -1, "", "data"});
    count.take(batch);
  };
  take(0, 0, 10, 3);
  take(0, 1, 20, 4);
  take(1, 0, 30, 1);
  const auto untold = count.take_untold();
  EXPECT_EQ(untold.count, 8);
  ASSERT_EQ(untold.first.size(), engine::BadSamples::kFirst);
  EXPECT_EQ(untold.first[3].sample, 20) << "the first of the second batch";
  take(1, 1, 40, 1);
  const auto next = count.take_untold();
  EXPECT_EQ(next.count, 1);
  ASSERT_EQ(next.first.size(), 1U);
  EXPECT_EQ(next.first[0].sample, 40);
  EXPECT_EQ(count.take_untold().count, 0);
}

// Whole items in memory are copied in pieces of some size: the same bytes as one by one.
class InMemoryItems final : public FunctionDataset, public InMemory {
 public:
  InMemoryItems()
      : FunctionDataset(3000, {{"x", Dtype::kUint8, {700}}, {"y", Dtype::kInt64, {}}},
                        [](int64_t, Sample&) { throw std::runtime_error("read() is not called"); }) {
    for (std::size_t i = 0; i < 3000; ++i) {
      y_.push_back(static_cast<int64_t>(i));
      x_.insert(x_.end(), 700, static_cast<uint8_t>(i % 251));
    }
  }
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    fields[0] = reinterpret_cast<const std::byte*>(x_.data() + index * 700);
    fields[1] = reinterpret_cast<const std::byte*>(y_.data() + index);
  }
  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == InMemory::kAbility ? static_cast<InMemory*>(this) : nullptr;
  }

 private:
  std::vector<uint8_t> x_;
  std::vector<int64_t> y_;
};

TEST_P(BadSamples, ItemsInMemoryAreCopiedToTheirPlaces) {
  const InMemoryItems dataset;
  const Stream stream({"data", "dataset:memory", &dataset}, {}, 7);
  ASSERT_TRUE(stream.copies());
  const BatchLayout layout = layout_of(stream, 3000);
  const auto all = order(0, 3000);
  const Batch batch = BatchMaker(stream, layout, GetParam()).make(BatchJob::request(all, {0, 3000}, 0, 1, 0));
  EXPECT_EQ(values<int64_t>(batch, "y"), batch.sample_ids);
  const std::vector<uint8_t> x = values<uint8_t>(batch, "x");
  for (std::size_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(x[i * 700], batch.sample_ids[i] % 251);
    ASSERT_EQ(x[i * 700 + 699], batch.sample_ids[i] % 251);
  }
}

}  // namespace
}  // namespace tenon::engine
