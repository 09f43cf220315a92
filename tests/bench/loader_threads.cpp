// How much faster loader threads are than none, with a transform that takes 0 to 5 ms by sample; the bytes must not differ.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <fmt/format.h>

#include <engine/data/loader.hpp>
#include <engine/data/stream.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/random.hpp>

namespace tenon::engine {
namespace {

constexpr int64_t kSamples = 240;
constexpr int64_t kLongest = 5000;  // µs

class Numbers final : public Dataset {
 public:
  [[nodiscard]] Spec spec() const override { return {{"x", Dtype::kInt64, {2}}}; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return kSamples; }
  [[nodiscard]] std::string fingerprint() const override { return "numbers"; }
  void read(int64_t index, Sample& out) const override {
    const Shape shape{2};
    for (int64_t& value : out.allocate(0, Dtype::kInt64, shape).as<int64_t>()) value = index;
  }
};

/// Waits as one does for a disk or another machine, and keeps how long in the sample.
class Slow final : public Transform {
 public:
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& sample, Rng& random, const When& /*when*/) const override {
    const Array in = sample.at(0);
    const Array out = sample.allocate(0, in.dtype, in.shape);
    const int64_t pause = random.integer(0, kLongest);
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
    out.as<int64_t>()[0] = in.as<int64_t>()[0];
    out.as<int64_t>()[1] = pause;
  }
};

struct Run {
  double milliseconds = 0;
  std::string bytes;
};

Run run(const Stream& stream, int workers) {
  LoaderOptions options;
  options.node = "train";
  options.batch = 16;
  options.shuffle = true;
  options.workers = workers;
  Loader loader(stream, options);
  Run run;
  const auto begin = std::chrono::steady_clock::now();
  loader.start(0, 0, 1);
  while (const std::optional<Batch> batch = loader.next()) {
    const BatchField& field = batch->fields[0];
    run.bytes.append(static_cast<const char*>(field.data), Array{field.data, field.dtype, field.shape}.bytes());
  }
  run.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return run;
}

int compare() {
  Numbers dataset;
  const Slow slow;
  const Stream stream({"numbers", "dataset:numbers", &dataset}, {{"slow", "transform:slow", &slow}}, 7);
  const Run none = run(stream, 0);
  fmt::print("threads 0: {:.0f} ms for {} samples of 0 to {} ms\n", none.milliseconds, kSamples, kLongest / 1000);
  bool equal = none.bytes.size() == static_cast<std::size_t>(kSamples) * 2 * sizeof(int64_t);
  for (const int threads : {1, 2, 4, 5}) {
    const Run other = run(stream, threads);
    equal = equal && other.bytes == none.bytes;
    fmt::print("threads {}: {:.0f} ms, {:.2f} times as fast as none, bytes {}\n", threads, other.milliseconds,
               none.milliseconds / other.milliseconds, other.bytes == none.bytes ? "equal" : "DIFFERENT");
  }
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace tenon::engine

int main() { return tenon::engine::compare(); }
