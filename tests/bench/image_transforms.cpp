// What image transforms cost a sample, by the clock of this thread; the loops of all instruction sets give the same
// bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <support/kernels.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/random.hpp>

namespace tenon::image_transforms {
namespace {

std::vector<uint8_t> noise(std::size_t bytes, uint64_t key) {
  std::vector<uint8_t> made(bytes);
  Rng random(key);
  for (uint8_t& byte : made) byte = static_cast<uint8_t>(random.bits() & 0xFF);
  return made;
}

/// What one set of loops makes of random input of many sizes.
std::string results(const Kernels& kernel) {
  std::string all;
  const auto keep = [&](const auto& made) {
    all.append(reinterpret_cast<const char*>(made.data()), made.size() * sizeof(made[0]));
  };
  Rng random(3);
  for (int i = 0; i < 200; ++i) {
    const int64_t channels = random.integer(1, 4);
    const int64_t width = random.integer(1, 90);
    const int64_t bytes = width * channels;
    const std::vector<uint8_t> in = noise(static_cast<std::size_t>(bytes * kLanes), static_cast<uint64_t>(i));
    std::vector<const uint8_t*> rows;
    for (int64_t row = 0; row < kLanes; ++row) rows.push_back(in.data() + row * bytes);
    std::vector<uint8_t> block(in.size());
    kernel.gather(rows.data(), bytes, block.data());
    keep(block);

    // Weights as bicubic filters have them: some are negative, and they make up 1.
    const int64_t outputs = random.integer(1, 40);
    const int64_t stride = std::min<int64_t>(width, 5);
    std::vector<int32_t> first;
    std::vector<int32_t> count;
    std::vector<int32_t> weights;
    for (int64_t out = 0; out < outputs; ++out) {
      count.push_back(static_cast<int32_t>(random.integer(1, stride)));
      first.push_back(static_cast<int32_t>(random.integer(0, width - count.back())));
      int32_t rest = 1 << kWeightBits;
      for (int64_t k = 0; k < stride; ++k) {
        const bool last = k + 1 == count.back();
        const auto weight = static_cast<int32_t>(random.integer(-(1 << 19), 1 << 21));
        weights.push_back(last ? rest : weight);
        if (k + 1 < count.back()) rest -= weight;
      }
    }
    const Taps taps{first.data(), count.data(), weights.data(), stride, outputs};
    std::vector<uint8_t> resampled(static_cast<std::size_t>(outputs * channels * kLanes));
    kernel.resample_block(block.data(), channels, taps, resampled.data());
    keep(resampled);
    const int64_t lanes = random.integer(1, kLanes);
    std::vector<uint8_t> scattered(resampled.size());
    std::vector<uint8_t*> targets;
    for (int64_t row = 0; row < kLanes; ++row) targets.push_back(scattered.data() + row * outputs * channels);
    kernel.scatter(resampled.data(), outputs * channels, targets.data(), lanes);
    keep(scattered);
    std::vector<uint8_t> row(static_cast<std::size_t>(bytes));
    kernel.resample_row(in.data(), bytes, weights.data(), count[0], bytes, row.data());
    keep(row);
    kernel.flip_row(in.data(), width, channels, row.data());
    keep(row);
    const std::vector<float> scale{0.017F, 0.0175F, 0.0174F, 0.3F};
    const std::vector<float> bias{-2.1F, -2.03F, -1.8F, 0.1F};
    std::vector<float> planes(static_cast<std::size_t>(bytes));
    kernel.normalize_planes(in.data(), width, channels, scale.data(), bias.data(), planes.data(), width);
    keep(planes);
    if (channels < 3) continue;
    kernel.blend_with_grey(in.data(), width, channels, 1.7F, -0.7F, row.data());
    keep(row);
    kernel.turn_hue(in.data(), width, channels, static_cast<float>(random.uniform(0, 6)), row.data());
    keep(row);
  }
  return all;
}

/// A sample of an image and a label, in memory that is used again.
class Reused final : public Sample {
 public:
  explicit Reused(Shape shape) : shape_(std::move(shape)), in_(noise(static_cast<std::size_t>(elements(shape_)), 1)) {}

  [[nodiscard]] Array at(int /*field*/) const override { return {const_cast<uint8_t*>(now_), Dtype::kUint8, shape_}; }
  [[nodiscard]] Array at(std::string_view /*name*/) const override { return at(0); }
  [[nodiscard]] Array allocate(int /*field*/, Dtype dtype, std::span<const int64_t> shape) override {
    next_ = &memory_[turn_++ % 2];
    out_shape_.assign(shape.begin(), shape.end());
    const Array out{nullptr, dtype, out_shape_};
    if (next_->size() < out.bytes()) next_->resize(out.bytes());
    return {next_->data(), dtype, out_shape_};
  }
  [[nodiscard]] Array allocate(std::string_view /*name*/, Dtype dtype, std::span<const int64_t> shape) override {
    return allocate(0, dtype, shape);
  }

  void begin() {
    now_ = in_.data();
    next_ = nullptr;
  }
  void next_stage() {
    if (next_ == nullptr) return;
    now_ = next_->data();
    shape_ = out_shape_;
    next_ = nullptr;
  }
  void restore(const Shape& shape) { shape_ = shape; }

 private:
  Shape shape_;
  Shape out_shape_;
  std::vector<uint8_t> in_;
  std::vector<uint8_t> memory_[2];
  std::vector<uint8_t>* next_ = nullptr;
  const uint8_t* now_ = nullptr;
  unsigned turn_ = 0;
};

double seconds_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Microseconds a sample through all stages: the least of 15 rounds.
double cost(const harness::Registry& plugin, const Shape& shape,
            const std::vector<std::pair<std::string, std::string>>& stages) {
  std::vector<harness::Made<Transform>> made;
  made.reserve(stages.size());
  for (const auto& [name, params] : stages) made.push_back(plugin.make<Transform>(name, params));
  Reused sample(shape);
  double best = 1e9;
  const int count = elements(shape) > 100000 ? 40 : 3000;
  for (int round = 0; round < 15; ++round) {
    const double begin = seconds_of_thread();
    for (int i = 0; i < count; ++i) {
      sample.restore(shape);
      sample.begin();
      for (const auto& transform : made) {
        Rng random(static_cast<uint64_t>(i));
        transform->apply(sample, random, {});
        sample.next_stage();
      }
    }
    best = std::min(best, (seconds_of_thread() - begin) / count);
  }
  return 1e6 * best;
}

int run() {
  const std::string plain = results(*base_kernels());
  bool same = true;
  for (const auto& [name, kernel] : {std::pair{"AVX2", avx2_kernels()}, std::pair{"AVX-512", avx512_kernels()}}) {
    const bool equal = kernel == nullptr || results(*kernel) == plain;
    fmt::print("{}: {}\n", name, kernel == nullptr ? "not on this processor" : equal ? "bytes equal" : "bytes DIFFER");
    same = same && equal;
  }
  const auto plugin =
      harness::Registry::opened(std::string(TENON_BUILD_DIR) + "/lib/tenon/plugins/tenon_image_transforms.so");
  const std::string small = R"({"height": 32, "width": 32, "padding": [4]})";
  const std::string imagenet = R"({"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]})";
  const std::string size = R"({"height": 224, "width": 224})";
  const auto print = [&](const std::string& what, const Shape& shape,
                         const std::vector<std::pair<std::string, std::string>>& stages) {
    fmt::print("{}: {:.2f} µs a sample\n", what, cost(plugin, shape, stages));
  };
  print("32 x 32: random_crop, random_horizontal_flip, normalize_image", {32, 32, 3},
        {{"random_crop", small}, {"random_horizontal_flip", "{}"}, {"normalize_image", imagenet}});
  print("500 x 375: resize to 224 x 224", {375, 500, 3}, {{"resize", size}});
  print("500 x 375: resize to 224 x 224 without antialias", {375, 500, 3},
        {{"resize", R"({"height": 224, "width": 224, "antialias": false})"}});
  print("500 x 375: random_resized_crop to 224 x 224", {375, 500, 3}, {{"random_resized_crop", size}});
  print("224 x 224: random_horizontal_flip", {224, 224, 3}, {{"random_horizontal_flip", "{}"}});
  print("224 x 224: normalize_image", {224, 224, 3}, {{"normalize_image", imagenet}});
  print("224 x 224: color_jitter of all four", {224, 224, 3},
        {{"color_jitter", R"({"brightness": [0.4], "contrast": [0.4], "saturation": [0.4], "hue": [0.1]})"}});
  print("224 x 224: rand_augment", {224, 224, 3}, {{"rand_augment", "{}"}});
  print("224 x 224: trivial_augment", {224, 224, 3}, {{"trivial_augment", "{}"}});
  return same ? 0 : 1;
}

}  // namespace
}  // namespace tenon::image_transforms

int main() { return tenon::image_transforms::run(); }
