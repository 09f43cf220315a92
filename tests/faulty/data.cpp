// Transforms and datasets that fail on some sample.
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <ATen/Parallel.h>

#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace {

struct ThrowingParams {
  double probability = 0.01;
  TENON_PARAMS(ThrowingParams,
               tenon::field(&ThrowingParams::probability, "probability", "How often it throws").min(0).max(1))
};

class Throwing final : public tenon::Transform {
 public:
  explicit Throwing(const ThrowingParams& params) : params_(params) {}

  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply(tenon::Sample& /*sample*/, tenon::Rng& random, const tenon::When& /*when*/) const override {
    if (random.chance(params_.probability)) throw std::runtime_error("this sample is unreadable");
  }

 private:
  ThrowingParams params_;
};

/// Whatever of libtorch a sample uses must stay on its thread: the loader's threads share the cores already.
class NeedsOneCore final : public tenon::Transform {
 public:
  explicit NeedsOneCore(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply(tenon::Sample& /*sample*/, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {
    const int threads = at::get_num_threads();
    if (threads != 1) {
      throw std::runtime_error("this sample is made by " + std::to_string(threads) + " threads");
    }
  }
};

class MissingFile final : public tenon::Dataset {
 public:
  explicit MissingFile(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() {
    return {.in = {},
            .out = {tenon::Port::of("image", {tenon::Dtype::kUint8}, {int64_t{1}, int64_t{8}, int64_t{8}}),
                    tenon::Port::of("label", {tenon::Dtype::kInt64}, {})}};
  }

  [[nodiscard]] tenon::Spec spec() const override {
    return {{"image", tenon::Dtype::kUint8, {1, 8, 8}}, {"label", tenon::Dtype::kInt64, {}}};
  }
  void open(std::span<tenon::Dataset* const> /*inputs*/) override {
    throw tenon::Error(tenon::ErrorCode::kData, "digits.idx is not there");
  }
  [[nodiscard]] int64_t size() const override { return 0; }
  [[nodiscard]] std::string fingerprint() const override { return ""; }
  void read(int64_t /*index*/, tenon::Sample& /*out*/) const override {}
};

struct StallingParams {
  int64_t after = 0;
  int64_t milliseconds = 5000;
  std::string mark;
  TENON_PARAMS(StallingParams,
               tenon::field(&StallingParams::after, "after", "From this sample on each takes so long").min(0),
               tenon::field(&StallingParams::milliseconds, "milliseconds", "How long").min(0),
               tenon::field(&StallingParams::mark, "mark", "A file that is there once one of them began"))
};

/// A thousand black images.
class Stalling final : public tenon::Dataset {
 public:
  explicit Stalling(const StallingParams& params) : params_(params) {}

  static tenon::Ports ports() {
    return {.in = {},
            .out = {tenon::Port::of("image", {tenon::Dtype::kUint8}, {int64_t{1}, int64_t{8}, int64_t{8}}),
                    tenon::Port::of("label", {tenon::Dtype::kInt64}, {})}};
  }

  [[nodiscard]] tenon::Spec spec() const override {
    return {{"image", tenon::Dtype::kUint8, {1, 8, 8}}, {"label", tenon::Dtype::kInt64, {}}};
  }
  void open(std::span<tenon::Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return 1000; }
  [[nodiscard]] std::string fingerprint() const override { return "black"; }
  void read(int64_t index, tenon::Sample& out) const override {
    if (index >= params_.after) {
      if (!params_.mark.empty()) std::ofstream(params_.mark).put('\n');
      std::this_thread::sleep_for(std::chrono::milliseconds(params_.milliseconds));
    }
    const std::array<int64_t, 3> shape{1, 8, 8};
    std::memset(out.allocate(0, tenon::Dtype::kUint8, shape).data, 0, 64);
    out.allocate(1, tenon::Dtype::kInt64, {}).as<int64_t>()[0] = index % 10;
  }

 private:
  StallingParams params_;
};

}  // namespace

TENON_COMPONENT(Stalling, StallingParams, "stalling", "A dataset that becomes very slow")
TENON_COMPONENT(NeedsOneCore, tenon::NoParams, "needs_one_core", "Throws where libtorch may use several threads")
TENON_COMPONENT(Throwing, ThrowingParams, "throwing", "Throws on some samples")
TENON_COMPONENT(MissingFile, tenon::NoParams, "missing_file", "A dataset whose file is not there")
