// Making one batch: a task a sample, each writing to its own place in the batch's slot where that is known; the last
// one to end puts the rest together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <engine/data/batch.hpp>
#include <engine/data/collate.hpp>
#include <engine/data/order.hpp>
#include <engine/data/stream.hpp>
#include <engine/data/task_pool.hpp>

namespace tenon::engine {

/// What a worker keeps from sample to sample.
struct Worker {
  Workspace workspace;
  std::atomic<int64_t> sample{-1};  ///< dataset index of the sample it is on, or -1
};

/// One batch under way. Its bytes depend on the request alone, not on threads.
class BatchJob final : public Job {
 public:
  /// What is asked for. `samples` are dataset indices.
  struct Request {
    int64_t epoch = 0;
    int64_t epochs = 1;
    int64_t index = 0;
    std::vector<int64_t> samples = {};
    int64_t position = 0;  ///< of the first sample in `order`
    /// Where the samples are from; gives occurrences, and substitutes for bad samples. Without one there are none.
    std::shared_ptr<const EpochOrder> order = nullptr;
  };

  /// The request for a part of an epoch's order.
  [[nodiscard]] static Request request(std::shared_ptr<const EpochOrder> order, Slice slice, int64_t epoch,
                                       int64_t epochs, int64_t index);

  /// All references outlive the job's tasks. \throws whatever the slot's allocator does.
  BatchJob(const Stream& stream, const BatchLayout& layout, std::deque<Worker>& workers,
           std::shared_ptr<BatchSlot> slot, Request request);

  /// One a sample; fewer where the stream only copies items from memory.
  [[nodiscard]] int64_t tasks() const noexcept override { return tasks_; }
  void run(int64_t task, int worker) noexcept override;

  /// The batch, after all tasks; once. \throws DataError of the first sample that failed, or (kData) when shapes
  /// differ; Error (kMemory).
  [[nodiscard]] Batch finish();

  /// Bytes that the batch takes in memory: after all tasks, before finish().
  [[nodiscard]] std::size_t bytes() const noexcept { return slot_->bytes(); }

 private:
  class Place;
  struct Failure {
    int64_t task = 0;
    ErrorCode code = ErrorCode::kData;
    std::string message;
    std::string node;  ///< Empty where no node is at fault.
  };
  struct Field {
    std::byte* data = nullptr;
    Shape shape;  // of one place in the batch; of the first sample to arrive, on free axes
    std::size_t stride = 0;
    std::vector<int64_t> sizes;      // of each sample, when there are free axes
    std::vector<std::byte*> values;  // of each sample, when its place is not known before
  };

  [[nodiscard]] std::optional<Failure> make(std::size_t task, const SampleKey& key, Worker& own);
  void make(std::size_t task, Worker& own);
  void copy(int64_t task, Worker& own);
  void substitute(std::size_t task, Failure failure, Worker& own);
  void lose(std::size_t task, Failure failure, int64_t substitute);
  void fail(Failure failure);

  [[nodiscard]] void* place(std::size_t task, std::size_t index, std::span<const int64_t> shape);
  [[nodiscard]] void* place_of_value(std::size_t task, std::size_t index, std::span<const int64_t> shape);

  void assemble();
  void assemble_field(std::size_t index);
  void compact(Field& field) const;
  void stack(std::size_t index);
  void pad(std::size_t index);
  void join(std::size_t index);
  void add_lengths(std::size_t index);
  void add_mask(std::size_t index);
  [[nodiscard]] std::byte* reserve(std::size_t output, std::span<const int64_t> shape);
  [[nodiscard]] std::span<const int64_t> sizes_of(std::size_t index, std::size_t task) const;
  [[noreturn]] void refuse_shapes(std::size_t index, std::size_t task) const;

  const Stream& stream_;
  const BatchLayout& layout_;
  std::deque<Worker>& workers_;
  std::shared_ptr<BatchSlot> slot_;
  Request request_;
  int64_t copied_at_once_ = 0;  // samples of a task where items are copied, else 0
  bool fetches_ahead_ = false;  // of a dataset in memory, behind which there are transforms
  int64_t tasks_ = 0;
  std::atomic<int64_t> left_;  // tasks
  std::vector<Field> fields_;
  std::vector<uint8_t> lost_;  // by task; empty where none may be
  std::atomic<int64_t> first_failure_;
  std::mutex mutex_;  // guards failure_, bad_, the slot's scratch, and fields_ with free axes
  std::optional<Failure> failure_;
  std::vector<std::pair<std::size_t, BadSample>> bad_;  // by task
  std::vector<std::size_t> kept_;                       // tasks whose sample is in the batch
  Batch batch_;
  std::exception_ptr error_;  // of assemble()
};

/// Bad samples, for people.
struct BadSamples {
  static constexpr std::size_t kFirst = 5;

  int64_t count = 0;
  std::vector<BadSample> first;  ///< Of them, at most kFirst.
};

/// Bad samples, counted against what an epoch may have. All calls from one thread, batches in order.
class BadSampleCount {
 public:
  /// Without parameters there are none to count: a bad sample ends the run.
  explicit BadSampleCount(std::optional<core::BadSampleParams> params = {}) : params_(params) {}

  /// Counts a batch's; begins from 0 in another epoch, and so where a run is resumed within one. An epoch that is read
  /// over again counts over again. \throws DataError of the first one that is too many.
  void take(const Batch& batch);

  /// Of the epoch of the last batch.
  [[nodiscard]] int64_t in_epoch() const noexcept { return in_epoch_; }

  /// All since the last call, of whatever epochs.
  [[nodiscard]] BadSamples take_untold() { return std::exchange(untold_, {}); }

 private:
  std::optional<core::BadSampleParams> params_;
  int64_t epoch_ = -1;
  int64_t index_ = -1;
  int64_t in_epoch_ = 0;
  BadSamples untold_;
};

}  // namespace tenon::engine
