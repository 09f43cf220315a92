// What the engine adds to a sample of CIFAR's size on its way through three cheap stages, beside the same work by hand,
// and what reading items in memory where they lie saves.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <engine/data/stream.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/random.hpp>

namespace tenon::engine {
namespace {

constexpr int64_t kItems = 256;
constexpr int64_t kMany = 50'000;
constexpr int64_t kSamples = 5'000;
constexpr int kTries = 100;  // of which the fastest counts
constexpr std::array<int64_t, 3> kShape{3, 32, 32};
constexpr std::size_t kBytes = 3 * 32 * 32;

Spec fields() { return {{"image", Dtype::kUint8, {3, 32, 32}}, {"label", Dtype::kInt64, {}}}; }

class Images : public Dataset {
 public:
  Images() : pixels_(static_cast<std::size_t>(kItems) * kBytes, 7), labels_(static_cast<std::size_t>(kItems), 3) {}

  [[nodiscard]] Spec spec() const override { return fields(); }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return kItems; }
  [[nodiscard]] std::string fingerprint() const override { return "images"; }
  void read(int64_t index, Sample& out) const override {
    std::memcpy(out.allocate("image", Dtype::kUint8, kShape).data, image(index), kBytes);
    out.allocate("label", Dtype::kInt64, {}).as<int64_t>()[0] = labels_[static_cast<std::size_t>(index)];
  }

 protected:
  [[nodiscard]] const uint8_t* image(int64_t index) const {
    return pixels_.data() + static_cast<std::size_t>(index) * kBytes;
  }

  std::vector<uint8_t> pixels_;
  std::vector<int64_t> labels_;
};

/// Copies the image, and changes a pixel by a draw where it is told to draw.
class Cheap final : public Transform {
 public:
  explicit Cheap(bool draws) : draws_(draws) {}
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& sample, Rng& random, const When& /*when*/) const override {
    const Array in = sample.at("image");
    const Array out = sample.allocate("image", in.dtype, in.shape);
    std::memcpy(out.data, in.data, kBytes);
    if (draws_) static_cast<uint8_t*>(out.data)[0] = static_cast<uint8_t>(random.bits());
  }

 private:
  bool draws_;
};

/// A place in a batch of 64.
class Place final : public Destination {
 public:
  void* place(int field, std::span<const int64_t> /*shape*/) override {
    return field == 0 ? static_cast<void*>(images_.data() + at_ * kBytes) : static_cast<void*>(&labels_[at_]);
  }
  void next() { at_ = (at_ + 1) % 64; }
  [[nodiscard]] uint8_t first() const { return images_[at_ * kBytes]; }

 private:
  std::vector<uint8_t> images_ = std::vector<uint8_t>(64 * kBytes);
  std::vector<int64_t> labels_ = std::vector<int64_t>(64);
  std::size_t at_ = 0;
};

template <class Make>
double nanoseconds(const Make& make) {
  double least = 1e18;
  for (int i = 0; i < kTries; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t sample = 0; sample < kSamples; ++sample) make(sample);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / static_cast<double>(kSamples));
  }
  return least;
}

double by_engine(const Dataset& dataset, bool draws, std::size_t transforms) {
  const Cheap cheap(draws);
  std::vector<TransformNode> nodes;
  for (std::size_t i = 0; i < transforms; ++i) nodes.push_back({fmt::format("t{}", i), "transform:cheap", &cheap});
  const Stream stream({"images", "dataset:images", &dataset}, nodes, 7);
  Workspace workspace;
  Place place;
  return nanoseconds([&](int64_t sample) {
    stream.run({sample % kItems, sample / kItems}, place, workspace);
    place.next();
  });
}

/// The same copies between plain buffers.
double by_hand(std::size_t transforms) {
  const std::vector<uint8_t> pixels(static_cast<std::size_t>(kItems) * kBytes, 7);
  std::array<std::array<uint8_t, kBytes>, 4> between{};
  Place place;
  return nanoseconds([&](int64_t sample) {
    const uint8_t* from = pixels.data() + static_cast<std::size_t>(sample % kItems) * kBytes;
    for (std::size_t stage = 0; stage <= transforms; ++stage) {
      auto* const to = stage == transforms ? static_cast<uint8_t*>(place.place(0, kShape)) : between[stage].data();
      std::memcpy(to, from, kBytes);
      asm volatile("" ::"r"(to) : "memory");
      from = to;
    }
    *static_cast<int64_t*>(place.place(1, {})) = 3;
    place.next();
  });
}

/// Images in memory, as many as CIFAR-10 has, which the engine need not read.
class Viewed final : public Images, public InMemory {
 public:
  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<InMemory*>(this) : nullptr;
  }
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    fields[0] = reinterpret_cast<const std::byte*>(many_.data() + static_cast<std::size_t>(index) * kBytes);
    fields[1] = reinterpret_cast<const std::byte*>(labels_.data());
  }
  void read(int64_t index, Sample& out) const override {
    std::memcpy(out.allocate(0, Dtype::kUint8, kShape).data, many_.data() + static_cast<std::size_t>(index) * kBytes,
                kBytes);
    out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = labels_[0];
  }

 private:
  std::vector<uint8_t> many_ = std::vector<uint8_t>(static_cast<std::size_t>(kMany) * kBytes, 7);
};

/// Batches of 64 in random order: copied where they lie, viewed one by one, read.
void compare_in_memory() {
  std::vector<int64_t> order(static_cast<std::size_t>(kMany));
  std::iota(order.begin(), order.end(), 0);
  Rng random(1);
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[static_cast<std::size_t>(random.integer(0, static_cast<int64_t>(i)))]);
  }
  class Plain final : public Dataset {
   public:
    explicit Plain(const Dataset& from) : from_(from) {}
    [[nodiscard]] Spec spec() const override { return from_.spec(); }
    void open(std::span<Dataset* const> /*inputs*/) override {}
    [[nodiscard]] int64_t size() const override { return kMany; }
    [[nodiscard]] std::string fingerprint() const override { return {}; }
    void read(int64_t index, Sample& out) const override { from_.read(index, out); }

   private:
    const Dataset& from_;
  };
  const Viewed viewed;
  const Plain plain(viewed);
  const Stream in_place({"images", "dataset:images", &viewed}, {}, 7);
  const Stream by_read({"images", "dataset:images", &plain}, {}, 7);
  std::vector<uint8_t> images(64 * kBytes);
  std::vector<int64_t> labels(64);
  const std::array<std::byte*, 2> slot{reinterpret_cast<std::byte*>(images.data()),
                                       reinterpret_cast<std::byte*>(labels.data())};
  Place place;
  Workspace workspace;
  const auto item = [&](int64_t sample) { return order[static_cast<std::size_t>(sample * 2654435 % kMany)]; };
  std::atomic<int64_t> at = -1;
  const double copied = nanoseconds([&](int64_t sample) {
    if (sample % 64 != 0) return;
    const std::span<const int64_t> batch =
        std::span(order).subspan(static_cast<std::size_t>(sample % (kMany - 64)), 64);
    in_place.copy(batch, slot, at);
  });
  const double one_by_one = nanoseconds([&](int64_t sample) {
    in_place.run({item(sample)}, place, workspace);
    place.next();
  });
  const double ahead = nanoseconds([&](int64_t sample) {
    in_place.prefetch(item(sample + 1));
    in_place.run({item(sample)}, place, workspace);
    place.next();
  });
  const double read = nanoseconds([&](int64_t sample) {
    by_read.run({item(sample)}, place, workspace);
    place.next();
  });
  fmt::print(
      "in memory, random order: {:.0f} ns a sample copied in batches, {:.0f} ns viewed, {:.0f} ns with the next one "
      "fetched ahead, {:.0f} ns read; copying is {:.2f} times as fast as reading\n",
      copied, one_by_one, ahead, read, read / copied);
}

int compare() {
  const Images images;
  for (const std::size_t transforms : {0U, 3U}) {
    const double hand = by_hand(transforms);
    const double plain = by_engine(images, false, transforms);
    const auto stages = static_cast<double>(transforms + 1);
    fmt::print("{} transforms: {:.0f} ns a sample by hand, {:.0f} ns by the engine, {:.2f} times; {:.1f} ns a stage\n",
               transforms, hand, plain, plain / hand, (plain - hand) / stages);
    if (transforms == 0) continue;
    const double drawn = by_engine(images, true, transforms);
    fmt::print("{} transforms that draw: {:.0f} ns a sample, {:.1f} ns a draw\n", transforms, drawn,
               (drawn - plain) / static_cast<double>(transforms));
  }
  compare_in_memory();
  return 0;
}

}  // namespace
}  // namespace tenon::engine

int main() { return tenon::engine::compare(); }
