// A loader that chooses its threads itself.
#include <engine/data/loader.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <engine/data/fakes.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/fingerprint.hpp>

namespace tenon::engine {
namespace {

using fakes::Copy;
using fakes::copy_of;
using fakes::FakeDataset;
using fakes::FunctionTransform;
using fakes::run;
using fakes::threads_become;
using fakes::threads_of_process;
using std::chrono::milliseconds;

/// FakeDataset's items, and where they lie.
class FakeMemory final : public FakeDataset, public InMemory {
 public:
  explicit FakeMemory(int64_t items) : FakeDataset(items) {
    for (int64_t index = 0; index < items; ++index) {
      for (int64_t pixel = 0; pixel < 16; ++pixel) images_.push_back(static_cast<uint8_t>(index * 7 + pixel));
      labels_.push_back(index);
    }
  }

  void* ability(const char* id) noexcept override {
    return std::string_view(id) == InMemory::kAbility ? static_cast<InMemory*>(this) : nullptr;
  }
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    fields[0] = reinterpret_cast<const std::byte*>(&images_[static_cast<std::size_t>(index) * 16]);
    fields[1] = reinterpret_cast<const std::byte*>(&labels_[static_cast<std::size_t>(index)]);
  }

 private:
  std::vector<uint8_t> images_;
  std::vector<int64_t> labels_;
};

LoaderOptions options(std::optional<int> workers) {
  LoaderOptions options;
  options.node = "train";
  options.batch = 8;
  options.shuffle = true;
  options.automatic = !workers;
  options.workers = workers.value_or(0);
  options.cores = 2;
  return options;
}

TEST(AutomaticLoader, GivesTheBytesOfAnyFixedNumberOfThreads) {
  for (const int pause : {0, 200}) {  // µs
    FakeDataset dataset(400);
    dataset.before([pause](int64_t index) {
      if (pause > 0) std::this_thread::sleep_for(std::chrono::microseconds(pause + index % 7 * 50));
    });
    const FunctionTransform noise = fakes::noise();
    const Stream stream({"set", "dataset:fake", &dataset}, {{"noise", "transform:noise", &noise}}, 7);
    Loader plain(stream, options(0));
    const std::vector<Copy> expected = run(plain, 0, 0, 4);
    Loader loader(stream, options(std::nullopt));
    EXPECT_EQ(run(loader, 0, 0, 4), expected);
    loader.start(2, 7, 4);
    EXPECT_EQ(copy_of(*loader.next()), expected[107]);
  }
}

/// Until it has chosen.
LoaderFacts settle(Loader& loader) {
  const auto begin = std::chrono::steady_clock::now();
  while (!loader.facts().settled && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    (void)loader.next();
  }
  return loader.facts();
}

TEST(AutomaticLoader, TakesNoThreadsForDataInMemoryThatIsMadeAtOnce) {
  if (std::string_view(TENON_SANITIZER) != "none") GTEST_SKIP() << "with a sanitizer it takes long enough for a thread";
  const FakeMemory dataset(800);
  const FunctionTransform noise = fakes::noise();
  for (const bool changed : {false, true}) {
    std::vector<TransformNode> transforms;
    if (changed) transforms.push_back({"noise", "transform:noise", &noise});
    const Stream stream({"set", "dataset:fake", &dataset}, transforms, 7);
    const int before = threads_of_process();
    Loader loader(stream, options(std::nullopt));
    EXPECT_EQ(threads_of_process(), before) << "nothing was asked for yet";
    loader.start(0, 0, 100'000);
    const LoaderFacts facts = settle(loader);
    EXPECT_TRUE(facts.settled);
    EXPECT_TRUE(facts.automatic);
    EXPECT_EQ(facts.workers, 0);
    EXPECT_TRUE(threads_become(before));
  }
}

TEST(AutomaticLoader, KeepsAThreadForDataThatIsNotInMemoryHoweverFastItIs) {
  const FakeDataset dataset(800);
  const Stream stream({"set", "dataset:fake", &dataset}, {}, 7);
  Loader loader(stream, options(std::nullopt));
  loader.start(0, 0, 100'000);
  EXPECT_GE(settle(loader).workers, 1) << "or nobody would find out that a sample hangs";
}

TEST(AutomaticLoader, TakesMoreThreadsThanCoresForSamplesThatWait) {
  FakeDataset dataset(100'000);
  dataset.before([](int64_t) { std::this_thread::sleep_for(milliseconds(2)); });
  const Stream stream({"set", "dataset:fake", &dataset}, {}, 7);
  LoaderOptions deep = options(std::nullopt);
  deep.batch = 32;
  Loader loader(stream, deep);
  loader.start(0, 0, 1);
  const auto begin = std::chrono::steady_clock::now();
  while (loader.facts().workers < 8 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    ASSERT_TRUE(loader.next());
  }
  EXPECT_GE(loader.facts().workers, 8);
}

TEST(AutomaticLoader, LeavesNoThreadBehindWhateverItChose) {
  const int before = threads_of_process();
  for (const int pause : {0, 1}) {
    FakeDataset dataset(4000);
    dataset.before([pause](int64_t) { std::this_thread::sleep_for(milliseconds(pause)); });
    const Stream stream({"set", "dataset:fake", &dataset}, {}, 7);
    for (const int batches : {0, 1, 20}) {
      Loader loader(stream, options(std::nullopt));
      loader.start(0, 0, 1);
      for (int i = 0; i < batches; ++i) EXPECT_TRUE(loader.next());
    }
    EXPECT_TRUE(threads_become(before));
  }
}

TEST(AutomaticLoader, KeepsItsChoiceWhenItStartsAnew) {
  const FakeMemory dataset(80);
  const Stream stream({"set", "dataset:fake", &dataset}, {}, 7);
  const int before = threads_of_process();
  Loader loader(stream, options(std::nullopt));
  const std::vector<Copy> first = run(loader, 0, 0, 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(run(loader, 0, 0, 1), first);
  EXPECT_TRUE(threads_become(before + loader.facts().workers));
}

}  // namespace
}  // namespace tenon::engine
