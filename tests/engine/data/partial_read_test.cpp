// A dataset that reads a region alone, before a transform that looks at no more: the bytes are those of the whole.
#include <engine/data/stream.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <engine/data/fakes.hpp>
#include <engine/data/samples.hpp>
#include <tenon/components/partial_read.hpp>

namespace tenon::engine {
namespace {

using fakes::error_of;
using fakes::node;
using fakes::sample_of;

constexpr int64_t kItems = 60;

Extent extent_of(int64_t index) { return {1 + index * 7 % 13, 1 + index * 5 % 17}; }

uint8_t pixel(int64_t index, int64_t row, int64_t column, int64_t channel) {
  return static_cast<uint8_t>(index * 31 + row * 17 + column * 5 + channel);
}

void fill(int64_t index, const Region& region, const Array& image) {
  auto* at = static_cast<uint8_t*>(image.data);
  for (int64_t row = region.top; row < region.top + region.height; ++row) {
    for (int64_t column = region.left; column < region.left + region.width; ++column) {
      for (int64_t channel = 0; channel < 3; ++channel) *at++ = pixel(index, row, column, channel);
    }
  }
}

/// Images of many sizes, with a mask of the whole beside each. `part` reads a region as it should.
class Photos : public Dataset, public PartialRead {
 public:
  explicit Photos(bool partial = true) : partial_(partial) {}

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return partial_ && std::string_view(id) == kAbility ? static_cast<PartialRead*>(this) : nullptr;
  }
  [[nodiscard]] Spec spec() const override { return spec_; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return kItems; }
  [[nodiscard]] std::string fingerprint() const override { return "photos"; }
  void read(int64_t index, Sample& out) const override {
    const Extent whole = extent_of(index);
    part(index, {0, 0, whole.height, whole.width}, out);
  }

  [[nodiscard]] std::string_view partial_field() const noexcept override { return field_; }
  void read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const override {
    part_ ? part_(index, choose, out) : part(index, choose(extent_of(index)), out);
  }

  void part(int64_t index, const Region& region, Sample& out) const {
    const Extent whole = extent_of(index);
    const Shape shape{region.height, region.width, 3};
    fill(index, region, out.allocate("image", Dtype::kUint8, shape));
    read_ += region.height * region.width;
    const Shape of_mask{whole.height, whole.width};
    std::fill_n(static_cast<uint8_t*>(out.allocate("mask", Dtype::kUint8, of_mask).data), whole.height * whole.width,
                static_cast<uint8_t>(index));
  }

  std::function<void(int64_t, const std::function<Region(Extent)>&, Sample&)> part_;
  Spec spec_{{"image", Dtype::kUint8, {"H", "W", 3}}, {"mask", Dtype::kUint8, {"H", "W"}}};
  std::string field_ = "image";
  mutable int64_t read_ = 0;  ///< pixels

 private:
  bool partial_;
};

/// A random crop, after which each pixel has a draw added.
class Crop : public Transform, public Cutting {
 public:
  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Cutting*>(this) : nullptr;
  }
  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = in;
    out[0].shape = {"h", "w", 3};
    return out;
  }
  void apply(Sample& sample, Rng& random, const When& when) const override {
    const Array in = sample.at("image");
    const Extent whole{in.shape[0], in.shape[1]};
    const Region region = choose(whole, random, when);
    cut(sample, region, region.top, region.left, random);
  }

  [[nodiscard]] std::string_view cut_field() const noexcept override { return field_; }
  [[nodiscard]] Region choose(const Extent& whole, Rng& random, const When& when) const override {
    if (choose_) return choose_(whole);
    const int64_t height = random.integer(1, whole.height);
    const int64_t width = random.integer(1, whole.width);
    return {random.integer(0, whole.height - height), std::min(when.epoch, whole.width - width), height, width};
  }
  void apply_cut(Sample& sample, const Extent& whole, const Region& region, Rng& random,
                 const When& /*when*/) const override {
    EXPECT_TRUE(region.height <= whole.height && region.width <= whole.width);
    if (writes_) cut(sample, region, 0, 0, random);
  }

  std::function<Region(Extent)> choose_;
  std::string field_ = "image";
  bool writes_ = true;

 private:
  static void cut(Sample& sample, const Region& region, int64_t top, int64_t left, Rng& random) {
    const Array in = sample.at("image");
    const Shape shape{region.height, region.width, 3};
    const auto out = sample.allocate("image", Dtype::kUint8, shape).as<uint8_t>();
    const auto added = static_cast<uint8_t>(random.bits());
    std::size_t at = 0;
    for (int64_t row = 0; row < region.height; ++row) {
      const int64_t begin = ((top + row) * in.shape[1] + left) * 3;
      for (int64_t i = 0; i < region.width * 3; ++i) {
        out[at++] = static_cast<uint8_t>(in.as<uint8_t>()[static_cast<std::size_t>(begin + i)] + added);
      }
    }
  }
};

TEST(PartialStream, GivesTheBytesOfCuttingTheWhole) {
  const Photos partial;
  const Photos whole(false);
  const Crop crop;
  const fakes::FunctionTransform sum(
      [](Sample& sample, Rng& random, const When&) {
        int64_t all = random.integer(0, 1000);
        for (const uint8_t value : sample.at("image").as<uint8_t>()) all += value;
        sample.allocate("sum", Dtype::kInt64, {}).as<int64_t>()[0] = all;
      },
      {{"sum", Dtype::kInt64, {}}});
  for (const std::vector<TransformNode>& transforms :
       {std::vector<TransformNode>{node("crop", crop)}, {node("crop", crop), node("sum", sum)}}) {
    const Stream fused(node(partial), transforms, 7);
    const Stream plain(node(whole), transforms, 7);
    for (int64_t i = 0; i < kItems; ++i) {
      for (int64_t epoch = 0; epoch < 4; ++epoch) EXPECT_EQ(sample_of(fused, {i, epoch}), sample_of(plain, {i, epoch}));
    }
  }
  EXPECT_LT(partial.read_, whole.read_ / 2);
}

TEST(PartialStream, ReadsTheWholeWithoutATransformThatCutsTheField) {
  const Photos photos;
  Crop crop;
  const auto pixels_of = [&](std::vector<TransformNode> transforms) {
    photos.read_ = 0;
    (void)sample_of(Stream(node(photos), std::move(transforms), 7), {11});
    return photos.read_;
  };
  const fakes::FunctionTransform nothing([](Sample&, Rng&, const When&) {});
  const int64_t all = extent_of(11).height * extent_of(11).width;
  EXPECT_LT(pixels_of({node("crop", crop)}), all);
  EXPECT_EQ(pixels_of({}), all);
  EXPECT_EQ(pixels_of({node("nothing", nothing), node("crop", crop)}), all);
  crop.field_ = "";
  EXPECT_EQ(pixels_of({node("crop", crop)}), all);
  crop.field_ = "mask";
  EXPECT_EQ(pixels_of({node("crop", crop)}), all);
}

TEST(PartialStream, ReadsTheWholeOfAFieldThatIsNoImage) {
  Photos photos;
  Crop crop;
  photos.field_ = crop.field_ = "photo";
  (void)sample_of(Stream(node(photos), {node("crop", crop)}, 7), {11});
  EXPECT_EQ(photos.read_, extent_of(11).height * extent_of(11).width);
}

TEST(PartialStream, ADatasetMayKnowOnlyOnceItIsOpenWhatItCanDo) {
  class Late final : public Photos {
   public:
    [[nodiscard]] void* ability(const char* id) noexcept override { return open_ ? Photos::ability(id) : nullptr; }
    void open(std::span<Dataset* const> /*inputs*/) override { open_ = true; }

   private:
    bool open_ = false;
  };
  Late late;
  const Crop crop;
  const Stream stream(node(late), {node("crop", crop)}, 7);
  late.open({});
  (void)sample_of(stream, {11});
  EXPECT_LT(late.read_, extent_of(11).height * extent_of(11).width);
}

std::string failure(ErrorCode code, const Photos& photos, const Crop& crop) {
  return error_of(code, [&] { (void)sample_of(Stream(node(photos), {node("crop", crop)}, 7), {11, 2}); });
}

const std::string kOfCrop = "\"crop\" (transform:crop), sample 11 of \"train_set\", epoch 2: ";
const std::string kOfPhotos = "\"train_set\" (dataset:fake), sample 11 of \"train_set\", epoch 2: ";

TEST(PartialStream, ARegionOutOfTheImageIsTheTransformsFault) {
  const Photos photos;
  const Extent whole = extent_of(11);
  for (const Region& region :
       {Region{-1, 0, 1, 1}, Region{0, -1, 1, 1}, Region{0, 0, 0, 1}, Region{0, 0, 1, 0}, Region{0, 0, -1, -1},
        Region{whole.height, 0, 1, 1}, Region{0, whole.width, 1, 1}, Region{1, 0, whole.height, 1},
        Region{0, 1, 1, whole.width}, Region{INT64_MAX, 0, 1, 1}, Region{0, INT64_MAX, 1, INT64_MAX}}) {
    Crop crop;
    crop.choose_ = [&](Extent) { return region; };
    EXPECT_EQ(failure(ErrorCode::kPlugin, photos, crop).rfind(kOfCrop + "choose() gives ", 0), 0U);
  }
  Crop crop;
  crop.choose_ = [](Extent) { return Region{2, 3, 40, 50}; };
  EXPECT_EQ(failure(ErrorCode::kPlugin, photos, crop),
            kOfCrop + "choose() gives 40 times 50 at (2, 3), out of an image of 13 times 5");
}

TEST(PartialStream, WhatChooseThrowsIsToldOfTheTransform) {
  Photos photos;
  Crop crop;
  crop.choose_ = [](Extent) -> Region { throw Error(ErrorCode::kData, "the image is too small"); };
  EXPECT_EQ(failure(ErrorCode::kData, photos, crop), kOfCrop + "the image is too small");
  photos.part_ = [](int64_t, const auto& choose, Sample&) {
    try {
      (void)choose(Extent{3, 3});
    } catch (const std::exception&) {
      throw Error(ErrorCode::kData, "a.jpg cannot be decoded");
    }
  };
  EXPECT_EQ(failure(ErrorCode::kData, photos, crop), kOfCrop + "the image is too small") << "the dataset hides it";
  photos.part_ = [&](int64_t index, const auto& choose, Sample& out) {
    try {
      (void)choose(extent_of(index));
    } catch (const std::exception&) {
      photos.part(index, {0, 0, 1, 1}, out);
    }
  };
  EXPECT_EQ(failure(ErrorCode::kData, photos, crop), kOfCrop + "the image is too small") << "the dataset ignores it";
}

TEST(PartialStream, ADatasetThatDoesNotKeepToItsPartIsNamed) {
  Photos photos;
  const Crop crop;
  photos.part_ = [&](int64_t index, const auto&, Sample& out) { photos.part(index, {0, 0, 1, 1}, out); };
  EXPECT_EQ(failure(ErrorCode::kPlugin, photos, crop), kOfPhotos + "read_part() does not ask for the region");
  photos.part_ = [&](int64_t index, const auto& choose, Sample& out) {
    (void)choose(extent_of(index));
    photos.part(index, choose(extent_of(index)), out);
  };
  EXPECT_EQ(failure(ErrorCode::kPlugin, photos, crop), kOfPhotos + "read_part() asks for the region twice");
  photos.part_ = [&](int64_t index, const auto& choose, Sample& out) {
    Region region = choose(extent_of(index));
    ++region.height;
    photos.part(index, region, out);
  };
  EXPECT_NE(failure(ErrorCode::kData, photos, crop).find("but was asked for a region of"), std::string::npos);
  photos.part_ = [&](int64_t index, const auto& choose, Sample& out) {
    photos.part(index, {0, 0, 1, 1}, out);
    (void)choose(extent_of(index));
  };
  EXPECT_EQ(failure(ErrorCode::kData, photos, crop),
            kOfPhotos + "allocates field \"image\" before it asks for the region");
  photos.part_ = [](int64_t, const auto&, Sample&) { throw Error(ErrorCode::kData, "b.jpg is cut short"); };
  EXPECT_EQ(failure(ErrorCode::kData, photos, crop), kOfPhotos + "b.jpg is cut short");
}

TEST(PartialStream, TheWholeIsHeldAgainstTheSpecAndTheOtherFields) {
  Photos photos;
  const Crop crop;
  photos.part_ = [&](int64_t index, const auto& choose, Sample& out) {
    photos.part(index, choose(Extent{extent_of(index).height + 1, extent_of(index).width}), out);
  };
  EXPECT_EQ(failure(ErrorCode::kData, photos, crop),
            kOfPhotos + "axis H is 14 in field \"image\" and 13 in field \"mask\"");
  photos.spec_[0].shape[0] = Dim(13);
  photos.spec_[1].shape[0] = Dim(13);
  EXPECT_EQ(failure(ErrorCode::kData, photos, crop),
            kOfPhotos + "says that field \"image\" is of 14 times 5, but its spec says uint8[13, W, 3]");
  photos.part_ = {};
  const Photos whole(false);
  EXPECT_EQ(sample_of(Stream(node(photos), {node("crop", crop)}, 7), {11}),
            sample_of(Stream(node(whole), {node("crop", crop)}, 7), {11}));
}

TEST(PartialStream, ATransformMayHandOnThePartAsItIs) {
  const Photos photos;
  Crop crop;
  crop.writes_ = false;
  crop.choose_ = [](Extent) { return Region{0, 0, 1, 1}; };
  EXPECT_EQ(sample_of(Stream(node(photos), {node("crop", crop)}, 7), {11}).front().substr(0, 3),
            sample_of(Stream(node(photos), {}, 7), {11}).front().substr(0, 3))
      << "the first pixel";
  crop.choose_ = [](Extent whole) { return Region{0, 0, whole.height, whole.width}; };
  EXPECT_EQ(sample_of(Stream(node(photos), {node("crop", crop)}, 7), {11}).front(),
            sample_of(Stream(node(photos), {}, 7), {11}).front())
      << "the whole may be handed on";
}

}  // namespace
}  // namespace tenon::engine
