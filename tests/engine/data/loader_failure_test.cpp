// What a bad sample, a bad shape or a bad option does to a loader.
#include <engine/data/loader.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <latch>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <engine/data/fakes.hpp>

namespace tenon::engine {
namespace {

using fakes::error_of;
using fakes::FakeDataset;
using fakes::FunctionDataset;
using fakes::FunctionTransform;

LoaderOptions options(int workers) {
  LoaderOptions options;
  options.node = "train";
  options.batch = 4;
  options.workers = workers;
  options.prefetch = 3;
  return options;
}

class LoaderFailure : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, LoaderFailure, testing::Values(0, 1, 2, 4, 5));

// Batches 0 and 1 are good, 2 is bad with `message`, 3 and 4 are good.
void expect_bad_third_batch(Loader& loader, const std::string& message) {
  loader.start(1, 0, 2);
  for (int64_t index = 0; index < 5; ++index) {
    if (index == 2) {
      EXPECT_EQ(error_of(ErrorCode::kData, [&] { (void)loader.next(); }), message);
      continue;
    }
    const std::optional<Batch> batch = loader.next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->index, index);
    EXPECT_EQ(batch->sample_ids.front(), index * 4);
    EXPECT_EQ(static_cast<int64_t*>(batch->fields[1].data)[batch->samples - 1], batch->sample_ids.back());
  }
  EXPECT_FALSE(loader.next());
}

TEST_P(LoaderFailure, OfADatasetArrivesInOrderOnce) {
  FakeDataset dataset(20);
  dataset.before([](int64_t index) {
    if (index == 9 || index == 11) {
      throw std::runtime_error("file " + std::to_string(index) + " is damaged");
    }
  });
  const Stream stream({"train_set", "dataset:fake", &dataset}, {}, 7);
  Loader loader(stream, options(GetParam()));
  expect_bad_third_batch(loader, "\"train_set\" (dataset:fake), sample 9 of \"train_set\", epoch 1: file 9 is damaged");
}

TEST_P(LoaderFailure, OfATransformArrivesInOrderOnce) {
  const FakeDataset dataset(20);
  const FunctionTransform bad([](Sample& sample, Rng&, const When&) {
    if (sample.at("label").as<int64_t>()[0] == 8) {
      throw Error(ErrorCode::kConfig, "the crop is larger than the image");
    }
  });
  const Stream stream({"train_set", "dataset:fake", &dataset}, {{"crop", "transform:crop", &bad}}, 7);
  Loader loader(stream, options(GetParam()));
  expect_bad_third_batch(
      loader, "\"crop\" (transform:crop), sample 8 of \"train_set\", epoch 1: the crop is larger than the image");
}

TEST_P(LoaderFailure, OfAnyTypeArrives) {
  FakeDataset dataset(20);
  dataset.before([](int64_t index) {
    if (index == 10) {
      throw 42;
    }
  });
  const Stream stream({"train_set", "dataset:fake", &dataset}, {}, 7);
  Loader loader(stream, options(GetParam()));
  expect_bad_third_batch(loader,
                         "\"train_set\" (dataset:fake), sample 10 of \"train_set\", epoch 1: an exception of type int");
}

TEST(LoaderFailureOrder, TheFirstOfTheBatchSpeaksWhicheverFailedFirst) {
  for (const bool first_is_slow : {false, true}) {
    FakeDataset dataset(20);
    std::latch both(2);
    dataset.before([&](int64_t index) {
      if (index == 9 || index == 10) {
        both.arrive_and_wait();
        if ((index == 9) == first_is_slow) {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
        }
        throw std::runtime_error("damaged");
      }
    });
    const Stream stream({"train_set", "dataset:fake", &dataset}, {}, 7);
    Loader loader(stream, options(2));
    loader.start(0, 2, 1);
    EXPECT_NE(error_of(ErrorCode::kData, [&] { (void)loader.next(); }).find("sample 9 of"), std::string::npos);
  }
}

TEST_P(LoaderFailure, ThatNobodyAsksForLeavesNothingHanging) {
  FakeDataset dataset(20);
  dataset.before([](int64_t) { throw std::runtime_error("all are damaged"); });
  const Stream stream({"train_set", "dataset:fake", &dataset}, {}, 7);
  Loader loader(stream, options(GetParam()));
  loader.start(0, 0, 1);
  loader.start(0, 1, 1);
  EXPECT_NE(error_of(ErrorCode::kData, [&] { (void)loader.next(); }).find("sample 4 of"), std::string::npos);
}

TEST_P(LoaderFailure, WithSamplesUnderWayLeavesNoThreadBehind) {
  const FakeDataset dataset(200);
  const FunctionTransform bad([](Sample& sample, Rng& random, const When&) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.integer(0, 2000)));
    if (sample.at("label").as<int64_t>()[0] >= 6) {
      throw std::runtime_error("the lens is dirty");
    }
  });
  const Stream stream({"train_set", "dataset:fake", &dataset}, {{"bad", "transform:bad", &bad}}, 7);
  const int before = fakes::threads_of_process();
  {
    Loader loader(stream, options(GetParam()));
    loader.start(0, 0, 1);
    EXPECT_TRUE(loader.next());
    const std::string message = error_of(ErrorCode::kData, [&] { (void)loader.next(); });
    EXPECT_EQ(message, "\"bad\" (transform:bad), sample 6 of \"train_set\", epoch 0: the lens is dirty");
  }
  EXPECT_TRUE(fakes::threads_become(before));
}

TEST_P(LoaderFailure, ShapesThatDifferWithinABatchNameBothSamples) {
  const FunctionDataset dataset(
      12, {{"image", Dtype::kUint8, {1, Dim(), 8}}, {"label", Dtype::kInt64, {}}}, [](int64_t index, Sample& out) {
        const int64_t rows = index == 7 ? 9 : index < 4 ? 5 : 8;
        const Array image = out.allocate(0, Dtype::kUint8, Shape{1, rows, 8});
        std::fill_n(static_cast<uint8_t*>(image.data), image.bytes(), static_cast<uint8_t>(index));
        out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = index;
      });
  const FunctionTransform pass([](Sample&, Rng&, const When&) {});
  for (const bool through : {false, true}) {
    std::vector<TransformNode> transforms;
    if (through) {
      transforms.push_back({"pass", "transform:pass", &pass});
    }
    const Stream stream({"train_set", "dataset:ragged", &dataset}, transforms, 7);
    Loader loader(stream, options(GetParam()));
    loader.start(0, 0, 1);
    const std::optional<Batch> first = loader.next();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->fields[0].shape, (Shape{4, 1, 5, 8}));
    EXPECT_EQ(
        error_of(ErrorCode::kData, [&] { (void)loader.next(); }),
        "field \"image\" has different shapes within batch 1 of epoch 0 of \"train_set\": sample 7 has [1, 9, 8], "
        "sample 4, the first of the batch, has [1, 8, 8]; crop or resize them to one shape, or give the loader "
        "\"pad\": "
        "[{ \"field\": \"image\" }]");
    const std::optional<Batch> last = loader.next();
    ASSERT_TRUE(last);
    EXPECT_EQ(last->fields[0].shape, (Shape{4, 1, 8, 8})) << "another batch may have another shape";
    for (int64_t i = 0; i < 4 * 64; ++i) {
      ASSERT_EQ(static_cast<uint8_t*>(last->fields[0].data)[i], 8 + i / 64);
    }
    EXPECT_EQ(static_cast<uint8_t*>(first->fields[0].data)[3 * 40], 3);
  }
}

TEST_P(LoaderFailure, TextsInABatchAreToldHowTheyBecomeNumbers) {
  const FunctionDataset dataset(4, {{"label", Dtype::kUint8, {Dim()}}}, [](int64_t index, Sample& out) {
    const Array label = out.allocate(0, Dtype::kUint8, Shape{index == 0 ? 3 : 5});
    std::fill_n(static_cast<uint8_t*>(label.data), label.bytes(), static_cast<uint8_t>('a'));
  });
  const Stream stream({"table", "dataset:words", &dataset}, {}, 7);
  Loader loader(stream, options(GetParam()));
  loader.start(0, 0, 1);
  EXPECT_EQ(
      error_of(ErrorCode::kData, [&] { (void)loader.next(); }),
      "field \"label\" has different shapes within batch 0 of epoch 0 of \"table\": sample 1 has [5], sample 0, the "
      "first of the batch, has [3]; if it names a category, put transform:encode_categories before the loader; if "
      "not, crop or resize them to one shape, or give the loader \"pad\": [{ \"field\": \"label\" }] or \"lists\": "
      "[\"label\"]");
}

TEST_P(LoaderFailure, OfTheAllocatorIsAnErrorAndTheLoaderGoesOn) {
  const FakeDataset dataset(20);
  const Stream stream({"train_set", "dataset:fake", &dataset}, {}, 7);
  LoaderOptions scarce = options(GetParam());
  bool empty = false;
  scarce.allocate = [&](std::size_t bytes) { return empty ? throw std::bad_alloc() : host_memory(bytes); };
  Loader loader(stream, scarce);
  loader.start(0, 0, 1);
  std::vector<Batch> kept;
  std::string message;
  for (int i = 0; i < 5 && message.empty(); ++i) {
    empty = i == 1;
    try {
      kept.push_back(*loader.next());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kMemory);
      message = error.what();
    }
  }
  EXPECT_EQ(message, "loader \"train\": no memory for a batch of 4 samples");
  empty = false;
  while (std::optional<Batch> batch = loader.next()) {
    kept.push_back(std::move(*batch));
  }
  ASSERT_EQ(kept.size(), 5U);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].index, static_cast<int64_t>(i));
  }
}

TEST(LoaderOptions, OutOfRangeAreRefusedByName) {
  const FakeDataset dataset(20);
  const Stream stream({"train_set", "dataset:fake", &dataset}, {}, 7);
  const auto refused = [&](ErrorCode code, const auto& change) {
    LoaderOptions wrong = options(0);
    change(wrong);
    return error_of(code, [&] { const Loader loader(stream, wrong); });
  };
  const auto config = [&](const auto& change) { return refused(ErrorCode::kConfig, change); };
  EXPECT_EQ(config([](LoaderOptions& o) { o.batch = 0; }), "loader \"train\": batch is 0, and must be at least 1");
  EXPECT_EQ(config([](LoaderOptions& o) { o.workers = -1; }),
            "loader \"train\": workers is -1, and must be at least 0");
  EXPECT_EQ(config([](LoaderOptions& o) { o.prefetch = 0; }),
            "loader \"train\": prefetch is 0, and must be at least 1");
  EXPECT_EQ(config([](LoaderOptions& o) { o.rank = o.world = 2; }), "loader \"train\": there is no rank 2 of 2");
  EXPECT_EQ(refused(ErrorCode::kData,
                    [](LoaderOptions& o) {
                      o.batch = 21;
                      o.last = LastBatch::kDrop;
                    }),
            "dataset \"train_set\" has 20 samples, less than one batch of 21, and loader \"train\" drops a short last "
            "batch: an epoch would be empty; set \"batch\" to 20 at most, or \"last\" to \"keep\"");
}

TEST(LoaderOptions, AnEmptyDatasetIsRefused) {
  const FakeDataset dataset(0);
  const Stream stream({"train_set", "dataset:fake", &dataset}, {}, 7);
  EXPECT_EQ(error_of(ErrorCode::kData, [&] { const Loader loader(stream, options(0)); }),
            "dataset \"train_set\" is empty");
}

TEST(LoaderOptions, ABatchLargerThanTheDatasetIsTheDataset) {
  const FakeDataset dataset(5);
  const Stream stream({"train_set", "dataset:fake", &dataset}, {}, 7);
  LoaderOptions large = options(2);
  large.batch = INT64_MAX;
  Loader loader(stream, large);
  loader.start(0, 0, 1);
  EXPECT_EQ(loader.next()->samples, 5);
}

TEST(LoaderOptions, ABatchThatNoMachineHoldsIsRefused) {
  const FunctionDataset dataset(1 << 20, {{"x", Dtype::kFloat32, {int64_t{1} << 21, int64_t{1} << 21}}},
                                [](int64_t, Sample&) {});
  const Stream stream({"train_set", "dataset:huge", &dataset}, {}, 7);
  LoaderOptions large = options(0);
  large.batch = 1 << 20;
  EXPECT_NE(error_of(ErrorCode::kMemory, [&] { const Loader loader(stream, large); }).find("field \"x\""),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::engine
