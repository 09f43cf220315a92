// Datasets whose items lie in memory: read() is not called, and no byte is another.
#include <engine/data/stream.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <core/process/breadcrumb.hpp>
#include <engine/data/fakes.hpp>
#include <engine/data/samples.hpp>
#include <tenon/components/in_memory.hpp>

namespace tenon::engine {
namespace {

using fakes::FakeDataset;
using fakes::node;
using fakes::sample_of;

constexpr int64_t kItems = 40;

/// The items of FakeDataset, in memory.
class Viewed : public FakeDataset, public InMemory {
 public:
  Viewed() : FakeDataset(kItems), labels_(kItems) {
    std::iota(labels_.begin(), labels_.end(), 0);
    const Stream plain(node(reader_), {}, 0);
    for (int64_t i = 0; i < kItems; ++i) images_ += sample_of(plain, {i}).front();
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<InMemory*>(this) : nullptr;
  }
  [[nodiscard]] bool can_view() const noexcept override { return can_view_; }
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    const auto at = static_cast<std::size_t>(index);
    fields[0] = reinterpret_cast<const std::byte*>(images_.data() + at * 16);
    fields[1] = tells_labels_ ? reinterpret_cast<const std::byte*>(&labels_[at]) : nullptr;
  }

  bool can_view_ = true;
  bool tells_labels_ = true;

 private:
  FakeDataset reader_{kItems};
  std::string images_;
  std::vector<int64_t> labels_;
};

TEST(InMemoryStream, GivesTheBytesOfReadWithoutCallingIt) {
  const Viewed viewed;
  const FakeDataset read(kItems);
  const auto noise = fakes::noise();
  const auto change = fakes::to_float();
  for (const std::vector<TransformNode>& transforms :
       {std::vector<TransformNode>{}, {node("noise", noise)}, {node("noise", noise), node("change", change)}}) {
    const Stream in_place(node(viewed), transforms, 7);
    const Stream by_read(node(read), transforms, 7);
    EXPECT_TRUE(in_place.in_memory());
    EXPECT_FALSE(by_read.in_memory());
    EXPECT_EQ(in_place.copies(), transforms.empty());
    for (int64_t i = 0; i < kItems; ++i) EXPECT_EQ(sample_of(in_place, {i, 3, 9}), sample_of(by_read, {i, 3, 9}));
  }
  EXPECT_EQ(viewed.reads(), 0);
}

TEST(InMemoryStream, CopiesBatchesInTheOrderAskedFor) {
  const Viewed viewed;
  const Stream stream(node(viewed), {}, 7);
  const std::vector<int64_t> items{3, 39, 3, 0};
  std::string images(items.size() * 16, '\0');
  std::vector<int64_t> labels(items.size());
  const std::vector<std::byte*> places{reinterpret_cast<std::byte*>(images.data()),
                                       reinterpret_cast<std::byte*>(labels.data())};
  std::atomic<int64_t> at = -1;
  stream.copy(items, places, at);
  EXPECT_EQ(at, 0);
  EXPECT_EQ(labels, items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(images.substr(i * 16, 16), sample_of(stream, {items[i]}).front());
  }
  EXPECT_EQ(viewed.reads(), 0);
}

TEST(InMemoryStream, FetchesAheadWithoutReading) {
  Viewed viewed;
  viewed.tells_labels_ = false;
  const Stream stream(node(viewed), {}, 7);
  for (int64_t i = 0; i < kItems; ++i) stream.prefetch(i);
  EXPECT_EQ(viewed.reads(), 0);
}

TEST(InMemoryStream, FetchesTheNextItemWhileTransformsAreAtOne) {
  class Counting final : public Viewed {
   public:
    void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
      ++views_[static_cast<std::size_t>(index)];
      Viewed::view(index, fields);
    }
    mutable std::array<std::atomic<int>, kItems> views_{};
  };
  const Counting counting;
  const auto change = fakes::to_float();
  const Stream stream(node(counting), {node("change", change)}, 7);
  LoaderOptions options;
  options.node = "train";
  options.batch = kItems;
  Loader loader(stream, options);
  loader.start(0, 0, 1);
  ASSERT_TRUE(loader.next());
  EXPECT_EQ(counting.views_.front(), 1);
  EXPECT_TRUE(std::all_of(counting.views_.begin() + 1, counting.views_.end(), [](int views) { return views == 2; }));
}

/// Threads look at their neighbours' samples, to fetch them, while those get others in their place.
TEST(InMemoryStream, FetchingAheadDoesNotMeetSubstitutes) {
  const Viewed viewed;
  const fakes::FunctionTransform picky([](Sample& sample, Rng&, const When&) {
    if (sample.at(1).as<int64_t>()[0] % 3 == 0) throw std::runtime_error("divided by three");
  });
  const Stream stream(node(viewed), {node("picky", picky)}, 7);
  LoaderOptions options;
  options.node = "train";
  options.batch = kItems;
  options.shuffle = true;
  options.bad_sample = core::BadSampleParams{core::BadSamplePolicy::kSubstitute, 1000};
  Loader plain(stream, options);
  const std::vector<fakes::Copy> expected = fakes::run(plain, 0, 0, 50);
  options.workers = 4;
  Loader threads(stream, options);
  EXPECT_EQ(fakes::run(threads, 0, 0, 50), expected);
}

TEST(InMemoryStream, ATransformSeesTheDatasetsOwnMemory) {
  const Viewed viewed;
  std::vector<const std::byte*> views(2);
  viewed.view(5, views);
  const fakes::FunctionTransform look([&](Sample& sample, Rng&, const When&) {
    EXPECT_EQ(sample.at("image").data, views[0]);
    EXPECT_EQ(sample.at(1).data, views[1]);
  });
  (void)sample_of(Stream(node(viewed), {node("look", look)}, 7), {5});
}

TEST(InMemoryStream, IsReadWhereItCannotBeViewed) {
  Viewed viewed;
  viewed.can_view_ = false;
  const Stream stream(node(viewed), {}, 7);
  EXPECT_FALSE(stream.in_memory());
  EXPECT_FALSE(stream.copies());
  EXPECT_EQ(sample_of(stream, {4}), sample_of(Stream(node(FakeDataset(kItems)), {}, 7), {4}));
  EXPECT_EQ(viewed.reads(4), 1);
}

TEST(InMemoryStream, IsReadWhereAnAxisIsFree) {
  class Free final : public Viewed {
   public:
    [[nodiscard]] Spec spec() const override {
      return {{"image", Dtype::kUint8, {1, "H", 4}}, {"label", Dtype::kInt64, {}}};
    }
  };
  const Free free;
  const Stream stream(node(free), {}, 7);
  EXPECT_FALSE(stream.in_memory());
  (void)sample_of(stream, {4});
  EXPECT_EQ(free.reads(4), 1);
}

TEST(InMemoryStream, AFieldWithoutAPlaceIsTheDatasetsFault) {
  Viewed viewed;
  viewed.tells_labels_ = false;
  const Stream stream(node(viewed), {}, 7);
  const std::string message = fakes::error_of(ErrorCode::kPlugin, [&] { (void)sample_of(stream, {4}); });
  EXPECT_EQ(message, "\"train_set\" (dataset:fake), sample 4: view() does not tell where field \"label\" lies");
  std::byte place{};
  const std::vector<std::byte*> places{&place, &place};
  std::atomic<int64_t> at = -1;
  EXPECT_EQ(fakes::error_of(ErrorCode::kPlugin, [&] { stream.copy(std::vector<int64_t>{4}, places, at); }), message);
}

/// Two of its items turned out to be damaged.
class Damaged final : public Viewed {
 public:
  Damaged() {
    before([](int64_t index) {
      if (index % 20 == 7) throw Error(ErrorCode::kData, "x.cache: item " + std::to_string(index) + " is damaged");
    });
  }
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    if (index % 20 != 7) return Viewed::view(index, fields);
    fields[0] = fields[1] = nullptr;
  }
};

TEST(InMemoryStream, AnItemThatTurnsOutToBeDamagedSaysWhyAsAnyOtherBadSample) {
  const Damaged damaged;
  const auto change = fakes::to_float();
  for (const std::vector<TransformNode>& transforms : {std::vector<TransformNode>{}, {node("change", change)}}) {
    const Stream stream(node(damaged), transforms, 7);
    const std::string cause =
        "\"train_set\" (dataset:fake), sample 7 of \"train_set\", epoch 0: x.cache: item 7 is damaged";
    EXPECT_EQ(fakes::error_of(ErrorCode::kData, [&] { (void)sample_of(stream, {7}); }), cause);
    for (const auto policy : {core::BadSamplePolicy::kSkip, core::BadSamplePolicy::kSubstitute}) {
      LoaderOptions options;
      options.node = "train";
      options.batch = 16;
      options.bad_sample = core::BadSampleParams{policy, 2};
      Loader loader(stream, options);
      loader.start(0, 0, 1);
      int64_t samples = 0;
      while (const std::optional<Batch> batch = loader.next()) {
        const fakes::Copy copy = fakes::copy_of(*batch);
        samples += static_cast<int64_t>(copy.ids.size());
        EXPECT_EQ(std::count(copy.ids.begin(), copy.ids.end(), 7), 0);
      }
      EXPECT_EQ(samples, policy == core::BadSamplePolicy::kSkip ? kItems - 2 : kItems);
      const BadSamples bad = loader.take_bad_samples();
      ASSERT_EQ(bad.count, 2);
      EXPECT_EQ(bad.first[0].message, cause);
    }
    LoaderOptions strict;
    strict.node = "train";
    strict.batch = 16;
    Loader loader(stream, strict);
    loader.start(0, 0, 1);
    EXPECT_EQ(fakes::error_of(ErrorCode::kData, [&] { (void)loader.next(); }), cause);
  }
}

/// Items of a file that has become shorter since it was mapped.
class Shortened final : public FakeDataset, public InMemory {
 public:
  Shortened() : FakeDataset(1), file_(::memfd_create("items", 0)) {
    if (::ftruncate(file_, 64) != 0) throw std::runtime_error("no file");
    bytes_ = static_cast<const std::byte*>(::mmap(nullptr, 64, PROT_READ, MAP_SHARED, file_, 0));
    if (::ftruncate(file_, 0) != 0) throw std::runtime_error("no file");
  }
  Shortened(const Shortened&) = delete;
  Shortened& operator=(const Shortened&) = delete;
  ~Shortened() override {
    ::munmap(const_cast<std::byte*>(bytes_), 64);
    ::close(file_);
  }
  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<InMemory*>(this) : nullptr;
  }
  void view(int64_t, std::span<const std::byte*> fields) const noexcept override { fields[0] = fields[1] = bytes_; }

 private:
  int file_;
  const std::byte* bytes_ = nullptr;
};

TEST(InMemoryStream, ACrashWhereItsBytesAreTakenFromIsThatOfTheDataset) {
  const auto crash = [](bool copies) {
    const Shortened dataset;
    const core::Callee& callee = core::callee("org.test", "1", "/test.so", "dataset:shortened", "train_set");
    const Stream stream({"train_set", "dataset:shortened", &dataset, &callee}, {}, 7);
    std::signal(SIGBUS, [](int) {
      const core::Breadcrumb& at = core::breadcrumb;
      const bool blamed = at.callee != nullptr && std::string_view(at.callee->node) == "train_set" && at.sample == 0;
      std::_Exit(blamed ? 7 : 8);
    });
    if (!copies) {
      (void)sample_of(stream, {0});
    } else {
      std::array<std::byte, 24> memory{};
      std::atomic<int64_t> at = -1;
      stream.copy(std::vector<int64_t>{0}, std::vector<std::byte*>{memory.data(), memory.data() + 16}, at);
    }
  };
  EXPECT_EXIT(crash(true), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(crash(false), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace tenon::engine
