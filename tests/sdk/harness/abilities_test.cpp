// What the harness shows of datasets and transforms that can do more than their interface asks for.
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/components/in_memory.hpp>
#include <tenon/components/multi_sample.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/harness/samples.hpp>

namespace tenon::harness {
namespace {

/// One image, uint8[3, 4], of 0 to 11, in memory and read in part.
class Counted final : public Dataset, public InMemory, public PartialRead {
 public:
  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    return wanted == PartialRead::kAbility ? static_cast<PartialRead*>(this) : nullptr;
  }
  [[nodiscard]] Spec spec() const override { return {{"image", Dtype::kUint8, {height_, 4}}}; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return 1; }
  [[nodiscard]] std::string fingerprint() const override { return "counted"; }
  void read(int64_t /*index*/, Sample& out) const override { write({0, 0, 3, 4}, out); }
  [[nodiscard]] bool can_view() const noexcept override { return can_view_; }
  void view(int64_t /*index*/, std::span<const std::byte*> fields) const noexcept override {
    fields[0] = has_place_ ? reinterpret_cast<const std::byte*>(kPixels) : nullptr;
  }
  [[nodiscard]] std::string_view partial_field() const noexcept override { return "image"; }
  void read_part(int64_t /*index*/, const std::function<Region(Extent)>& choose, Sample& out) const override {
    Region region{0, 0, 3, 4};
    for (int i = 0; i < asks_; ++i) region = choose({3, 4});
    region.width += wider_;
    write(region, out);
  }

  Dim height_ = 3;
  bool can_view_ = true;
  bool has_place_ = true;
  int asks_ = 1;
  int64_t wider_ = 0;

 private:
  static constexpr uint8_t kPixels[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

  static void write(const Region& region, Sample& out) {
    const Shape shape{region.height, region.width};
    auto* to = out.allocate("image", Dtype::kUint8, shape).as<uint8_t>().data();
    for (int64_t row = 0; row < region.height; ++row) {
      std::memcpy(to + row * region.width, kPixels + (region.top + row) * 4 + region.left,
                  static_cast<std::size_t>(region.width));
    }
  }
};

std::vector<uint8_t> pixels(const MemorySample& sample) {
  const auto values = sample.at("image").as<uint8_t>();
  return {values.begin(), values.end()};
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(HarnessAbilities, ShowItemsWhereTheyLie) {
  Counted dataset;
  EXPECT_EQ(pixels(view(dataset, 0)), pixels(read(dataset, 0)));
  dataset.has_place_ = false;
  EXPECT_EQ(error_of([&] { (void)view(dataset, 0); }), "the field \"image\" has no place");
  dataset.can_view_ = false;
  EXPECT_NE(error_of([&] { (void)view(dataset, 0); }).find("can_view() is false"), std::string::npos);
  dataset.can_view_ = true;
  dataset.height_ = Dim("H");
  EXPECT_EQ(error_of([&] { (void)view(dataset, 0); }), "an axis of the field \"image\" is free");
  MemoryDataset plain({{"x", Dtype::kBool, {}}}, {});
  EXPECT_EQ(error_of([&] { (void)view(plain, 0); }), "it has no ability InMemory");
}

TEST(HarnessAbilities, ReadAPartAndCutTheSameOutOfTheWhole) {
  Counted dataset;
  const Region region{1, 2, 2, 2};
  const PartOfItem part = read_part(dataset, 0, [&](const Extent&) { return region; });
  EXPECT_EQ(part.whole, (Extent{3, 4}));
  EXPECT_EQ(part.region, region);
  EXPECT_EQ(pixels(part.sample), (std::vector<uint8_t>{6, 7, 10, 11}));
  EXPECT_EQ(pixels(cut(read(dataset, 0), "image", region)), (std::vector<uint8_t>{6, 7, 10, 11}));
}

TEST(HarnessAbilities, RefuseAPartThatIsNotTheRegion) {
  Counted dataset;
  const auto read_with = [&](const Region& region) {
    return error_of([&] { (void)read_part(dataset, 0, [&](const Extent&) { return region; }); });
  };
  EXPECT_EQ(read_with({1, 2, 3, 1}), "the region, 3 times 1 at (1, 2), is out of the image of 3 times 4");
  EXPECT_NE(error_of([&] {
              (void)cut(read(dataset, 0), "image", {0, 0, 1, 5});
            }).find("is out of the image"),
            std::string::npos);
  dataset.wider_ = 1;
  EXPECT_EQ(read_with({0, 0, 1, 2}), "the field \"image\" is of 1 times 3, not of the region, 1 times 2 at (0, 0)");
  dataset.wider_ = 0;
  for (const int times : {0, 2}) {
    dataset.asks_ = times;
    EXPECT_EQ(read_with({0, 0, 3, 4}), "read_part() asks " + std::to_string(times) + " times for the region");
  }
}

/// The pixel at a random place, plus a draw.
class Pixel final : public Transform, public Cutting {
 public:
  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Cutting*>(this) : nullptr;
  }
  [[nodiscard]] Spec spec(const Spec& /*in*/) const override { return {{"image", Dtype::kUint8, {1, 1}}}; }
  void apply(Sample& sample, Rng& random, const When& when) const override {
    const Array in = sample.at("image");
    const Region region = choose({in.shape[0], in.shape[1]}, random, when);
    write(sample, region.top * in.shape[1] + region.left, random);
  }
  [[nodiscard]] std::string_view cut_field() const noexcept override { return "image"; }
  [[nodiscard]] Region choose(const Extent& whole, Rng& random, const When& /*when*/) const override {
    return {random.integer(0, whole.height - 1), 1, 1, 1};
  }
  void apply_cut(Sample& sample, const Extent& whole, const Region& /*region*/, Rng& random,
                 const When& /*when*/) const override {
    EXPECT_EQ(whole, (Extent{3, 4}));
    write(sample, 0, random);
  }

 private:
  static void write(Sample& sample, int64_t at, Rng& random) {
    const uint8_t pixel = sample.at("image").as<uint8_t>()[static_cast<std::size_t>(at)];
    sample.allocate("image", Dtype::kUint8, Shape{1, 1}).as<uint8_t>()[0] = static_cast<uint8_t>(pixel + random.bits());
  }
};

TEST(HarnessAbilities, PushARegionAlone) {
  const Counted dataset;
  const MemorySample whole = read(dataset, 0);
  Pixel pixel;
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(pixels(push_cut(pixel, whole, {.sample = i})), pixels(push(pixel, whole, {.sample = i})));
  }
}

/// The sum of the first pixels of two further samples.
class Sum final : public Transform, public MultiSample {
 public:
  explicit Sum(bool spoils) : spoils_(spoils) {}
  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<MultiSample*>(this) : nullptr;
  }
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const override { FAIL(); }
  [[nodiscard]] int64_t others() const noexcept override { return 2; }
  void apply_with(Sample& sample, std::span<const Sample* const> others, Rng& /*random*/,
                  const When& /*when*/) const override {
    uint8_t& first = sample.allocate("image", Dtype::kUint8, Shape{1}).as<uint8_t>()[0];
    first = sample.at("image").as<uint8_t>()[0];
    for (const Sample* const other : others) first = static_cast<uint8_t>(first + other->at(0).as<uint8_t>()[0]);
    if (spoils_) others[1]->at(0).as<uint8_t>()[0] = 0;
  }

 private:
  bool spoils_;
};

TEST(HarnessAbilities, PushWithFurtherSamples) {
  std::vector<MemorySample> samples(3);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].set<uint8_t>("image", {1}, {static_cast<uint8_t>(i + 5)});
  const std::span<const MemorySample> others = std::span(samples).subspan(1);
  Sum sum(false);
  EXPECT_EQ(pixels(push_with(sum, samples[0], others)), (std::vector<uint8_t>{18}));
  EXPECT_EQ(error_of([&] { (void)push_with(sum, samples[0], others.first(1)); }),
            "it needs 2 further samples, and there are 1");
  Sum spoils(true);
  EXPECT_NE(error_of([&] { (void)push_with(spoils, samples[0], others); }).find("was changed in place"),
            std::string::npos);
  EXPECT_EQ(pixels(samples[2]), (std::vector<uint8_t>{7})) << "the caller's samples are left alone";
}

}  // namespace
}  // namespace tenon::harness
