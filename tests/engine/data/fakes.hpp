// Datasets and transforms in memory, and what a loader delivers as plain bytes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <engine/data/loader.hpp>
#include <engine/data/stream.hpp>
#include <process_use.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/error.hpp>

namespace tenon::engine::fakes {

/// Items of image uint8[1, 4, 4] and label int64[]; the bytes are a function of the index.
class FakeDataset : public Dataset {
 public:
  explicit FakeDataset(int64_t items) : reads_(static_cast<std::size_t>(items)) {}

  [[nodiscard]] Spec spec() const override {
    return {{"image", Dtype::kUint8, {1, 4, 4}}, {"label", Dtype::kInt64, {}}};
  }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(reads_.size()); }
  [[nodiscard]] std::string fingerprint() const override { return "fake"; }

  void read(int64_t index, Sample& out) const override {
    reads_[static_cast<std::size_t>(index)].fetch_add(1);
    if (before_) {
      before_(index);
    }
    const Shape shape = {1, 4, 4};
    const Array image = out.allocate("image", Dtype::kUint8, shape);
    uint8_t value = 0;
    for (uint8_t& pixel : image.as<uint8_t>()) {
      pixel = static_cast<uint8_t>(index * 7 + value++);
    }
    out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = index;
  }

  /// Called in read(), for failures and delays.
  void before(std::function<void(int64_t)> call) { before_ = std::move(call); }

  [[nodiscard]] int reads(int64_t index) const { return reads_[static_cast<std::size_t>(index)].load(); }
  [[nodiscard]] int reads() const {
    int sum = 0;
    for (const std::atomic<int>& count : reads_) {
      sum += count.load();
    }
    return sum;
  }

 private:
  std::function<void(int64_t)> before_;
  mutable std::vector<std::atomic<int>> reads_;
};

/// A dataset of given spec and reader.
class FunctionDataset : public Dataset {
 public:
  using Read = std::function<void(int64_t, Sample&)>;
  FunctionDataset(int64_t items, Spec spec, Read read)
      : items_(items), spec_(std::move(spec)), read_(std::move(read)) {}

  [[nodiscard]] Spec spec() const override { return spec_; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return items_; }
  [[nodiscard]] std::string fingerprint() const override { return "function"; }
  void read(int64_t index, Sample& out) const override { read_(index, out); }

 private:
  int64_t items_;
  Spec spec_;
  Read read_;
};

/// A transform of given apply; its spec replaces or adds the fields given.
class FunctionTransform : public Transform {
 public:
  using Apply = std::function<void(Sample&, Rng&, const When&)>;
  explicit FunctionTransform(Apply apply, Spec changed = {}) : apply_(std::move(apply)), changed_(std::move(changed)) {}

  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = in;
    for (const FieldSpec& field : changed_) {
      if (find(out, field.name) == nullptr) {
        out.push_back(field);
      } else {
        out[static_cast<std::size_t>(index_of(out, field.name))] = field;
      }
    }
    return out;
  }
  void apply(Sample& sample, Rng& random, const When& when) const override { apply_(sample, random, when); }

 private:
  Apply apply_;
  Spec changed_;
};

/// Adds random numbers to the image, and sometimes hands it on as it is.
inline FunctionTransform noise() {
  return FunctionTransform([](Sample& sample, Rng& random, const When& /*when*/) {
    if (random.chance(0.25)) {
      return;
    }
    const Array in = sample.at("image");
    const Array out = sample.allocate("image", in.dtype, in.shape);
    for (std::size_t i = 0; i < in.as<uint8_t>().size(); ++i) {
      out.as<uint8_t>()[i] = static_cast<uint8_t>(in.as<uint8_t>()[i] + random.integer(0, 255));
    }
  });
}

/// image uint8 → float32.
inline FunctionTransform to_float() {
  return FunctionTransform(
      [](Sample& sample, Rng& /*random*/, const When& /*when*/) {
        const Array in = sample.at(0);
        const Array out = sample.allocate(0, Dtype::kFloat32, in.shape);
        for (std::size_t i = 0; i < in.as<uint8_t>().size(); ++i) {
          out.as<float>()[i] = static_cast<float>(in.as<uint8_t>()[i]) / 16.0F;
        }
      },
      {{"image", Dtype::kFloat32, {1, 4, 4}}});
}

/// What a batch holds, free of its memory.
struct Copy {
  int64_t epoch = 0;
  int64_t index = 0;
  std::vector<int64_t> ids;
  std::vector<Shape> shapes;
  std::vector<std::string> bytes;  ///< of each field

  friend bool operator==(const Copy&, const Copy&) = default;
};

inline Copy copy_of(const Batch& batch) {
  Copy copy{batch.epoch, batch.index, batch.sample_ids, {}, {}};
  for (const BatchField& field : batch.fields) {
    const Array array{field.data, field.dtype, field.shape};
    copy.shapes.push_back(field.shape);
    copy.bytes.emplace_back(static_cast<const char*>(field.data), array.bytes());
  }
  return copy;
}

/// Everything from a position to the end of the plan; checks that an epoch ends where it should.
inline std::vector<Copy> run(Loader& loader, int64_t epoch, int64_t first_batch, int64_t epochs) {
  loader.start(epoch, first_batch, epochs);
  std::vector<Copy> all;
  for (; epoch < epochs; ++epoch, first_batch = 0) {
    for (int64_t index = first_batch; index < loader.batches(); ++index) {
      const std::optional<Batch> batch = loader.next();
      if (!batch) {
        ADD_FAILURE() << "epoch " << epoch << " ends before batch " << index;
        return all;
      }
      EXPECT_EQ(batch->epoch, epoch);
      EXPECT_EQ(batch->index, index);
      all.push_back(copy_of(*batch));
    }
    EXPECT_FALSE(loader.next()) << "epoch " << epoch << " has a batch too many";
  }
  EXPECT_FALSE(loader.next());
  return all;
}

/// The message of the Error that `call` throws, which must have this code.
template <class Call>
std::string error_of(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

using test::threads_of_process;

/// Whether the process comes to have so many threads: those that retire do so beside the test.
inline bool threads_become(int count) {
  for (int i = 0; i < 20000 && threads_of_process() != count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return threads_of_process() == count;
}

inline int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

}  // namespace tenon::engine::fakes
