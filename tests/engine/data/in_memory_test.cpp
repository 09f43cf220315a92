// Datasets whose items lie in memory: read() is not called, and no byte is another.
#include <engine/data/stream.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
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
  stream.copy(items, places);
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
  EXPECT_EQ(fakes::error_of(ErrorCode::kPlugin, [&] { stream.copy(std::vector<int64_t>{4}, places); }), message);
}

}  // namespace
}  // namespace tenon::engine
