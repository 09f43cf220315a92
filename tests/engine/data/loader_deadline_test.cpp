// A sample that does not come back.
#include <engine/data/loader.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <core/process/breadcrumb.hpp>
#include <engine/data/fakes.hpp>

namespace tenon::engine {
namespace {

using fakes::error_of;
using fakes::FakeDataset;
using fakes::threads_become;
using fakes::threads_of_process;
using std::chrono::milliseconds;

/// A stream that owns what it reads, and hangs on one sample until it is let go.
struct Hanging {
  explicit Hanging(int64_t hung)
      : dataset(100), callee(core::callee("org.test", "1", "/test.so", "dataset:fake", "train_set")) {
    dataset.before([this, hung, released = release.get_future().share()](int64_t index) {
      if (index != hung) return;
      reached = true;
      released.wait();
    });
    stream.emplace(DatasetNode{"train_set", "dataset:fake", &dataset, &callee}, std::vector<TransformNode>{}, 7);
  }

  std::promise<void> release;
  std::atomic<bool> reached = false;
  FakeDataset dataset;
  const core::Callee& callee;
  std::optional<Stream> stream;
};

LoaderOptions options(bool automatic, const std::shared_ptr<Hanging>& keep) {
  LoaderOptions options;
  options.node = "train";
  options.batch = 4;
  options.automatic = automatic;
  options.workers = 2;
  options.sample_timeout = milliseconds(500);
  options.keep = keep;
  return options;
}

class SampleTimeout : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Automatic, SampleTimeout, testing::Bool());

TEST_P(SampleTimeout, NamesTheSampleAndTheNodeItHangsInAndLetsTheProcessGoOn) {
  const int before = threads_of_process();
  auto hanging = std::make_shared<Hanging>(17);
  std::promise<void>& release = hanging->release;
  const std::weak_ptr<Hanging> watched = hanging;
  {
    Loader loader(*hanging->stream, options(GetParam(), hanging));
    loader.start(0, 0, 1);
    for (int64_t index = 0; index < 4; ++index) {
      const std::optional<Batch> batch = loader.next();
      ASSERT_TRUE(batch);
      EXPECT_EQ(batch->index, index);
    }
    const std::string message = error_of(ErrorCode::kData, [&] { (void)loader.next(); });
    EXPECT_EQ(
        message,
        "\"train_set\" (dataset:fake), sample 17 of \"train_set\": it has been under way for more than 0.5 s, the "
        "loader's \"sample_timeout\"; look at that sample and at what it is read from, or allow more time");
    EXPECT_EQ(error_of(ErrorCode::kData, [&] { (void)loader.next(); }), message) << "there is no way on";
    EXPECT_EQ(error_of(ErrorCode::kData, [&] { (void)loader.wait(milliseconds(1)); }), message);
    EXPECT_EQ(error_of(ErrorCode::kData, [&] { loader.start(0, 0, 1); }), message);
    EXPECT_FALSE(loader.end()) << "a thread is given up";
    hanging.reset();
  }
  EXPECT_TRUE(threads_become(before + 1));
  EXPECT_FALSE(watched.expired()) << "what the thread reads is there as long as it is";
  release.set_value();
  EXPECT_TRUE(threads_become(before));
  EXPECT_TRUE(watched.expired());
}

TEST_P(SampleTimeout, IsFoundByACallerThatOnlyWaits) {
  auto hanging = std::make_shared<Hanging>(2);
  std::promise<void>& release = hanging->release;
  const int before = threads_of_process();
  {
    Loader loader(*hanging->stream, options(GetParam(), hanging));
    loader.start(0, 0, 1);
    const std::string message = error_of(ErrorCode::kData, [&] {
      while (!loader.wait(milliseconds(5))) {
      }
    });
    EXPECT_NE(message.find("sample 2 of"), std::string::npos) << message;
  }
  release.set_value();
  EXPECT_TRUE(threads_become(before));
}

TEST(SampleTimeout, DoesNotCountTheTimeOfOtherSamples) {
  FakeDataset dataset(60);
  dataset.before([](int64_t) { std::this_thread::sleep_for(milliseconds(10)); });
  const Stream stream({"train_set", "dataset:fake", &dataset}, {}, 7);
  LoaderOptions tight;
  tight.node = "train";
  tight.batch = 60;
  tight.workers = 1;
  tight.sample_timeout = std::chrono::seconds(5);
  Loader loader(stream, tight);
  loader.start(0, 0, 1);
  EXPECT_TRUE(loader.next()) << "the batch takes longer than a sample may, and no sample does";
}

TEST(Loader, EndsSoonWhateverItsSamplesDo) {
  const int before = threads_of_process();
  auto hanging = std::make_shared<Hanging>(0);
  std::promise<void>& release = hanging->release;
  LoaderOptions patient = options(false, hanging);
  patient.sample_timeout = std::chrono::minutes(10);
  auto loader = std::make_unique<Loader>(*hanging->stream, patient);
  loader->start(0, 0, 1);
  while (!hanging->reached) std::this_thread::sleep_for(milliseconds(1));
  const auto begin = std::chrono::steady_clock::now();
  loader.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << "the sample hangs for ever";
  release.set_value();
  hanging.reset();
  EXPECT_TRUE(threads_become(before));
}

}  // namespace
}  // namespace tenon::engine
