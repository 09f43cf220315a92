// Making one batch: a task a sample, each writing to its own place in the batch's slot.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <engine/data/batch.hpp>
#include <engine/data/stream.hpp>
#include <engine/data/task_pool.hpp>

namespace tenon::engine {

/// What a worker keeps from sample to sample.
struct Worker {
  Workspace workspace;
  std::atomic<int64_t> sample{-1};  ///< dataset index of the sample it is on, or -1
};

/// Sizes that all batches of a loader share.
struct BatchLayout {
  struct Field {
    Dtype dtype = Dtype::kFloat32;
    bool fixed = false;      ///< every axis is known before any sample
    Shape shape;             ///< of one sample, when fixed
    std::size_t stride = 0;  ///< bytes of one sample, when fixed
  };

  /// \throws Error (kMemory) when no machine could hold it.
  BatchLayout(Spec fields_of_a_sample, int64_t most_samples);

  Spec spec;
  int64_t capacity = 0;
  std::vector<Field> fields;
};

/// One batch under way.
class BatchJob final : public Job {
 public:
  /// What is asked for. `samples` are dataset indices.
  struct Request {
    int64_t epoch = 0;
    int64_t epochs = 1;
    int64_t index = 0;
    std::vector<int64_t> samples;
  };

  /// All references outlive the job's tasks. \throws whatever the slot's allocator does.
  BatchJob(const Stream& stream, const BatchLayout& layout, std::deque<Worker>& workers,
           std::shared_ptr<BatchSlot> slot, Request request);

  [[nodiscard]] int64_t tasks() const noexcept override { return static_cast<int64_t>(request_.samples.size()); }
  void run(int64_t task, int worker) noexcept override;

  /// The batch, after all tasks; once. \throws Error (kData) of the first sample that failed, or when shapes differ.
  [[nodiscard]] Batch finish();

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
    Shape shape;  // of the first sample to arrive, on free axes
    std::size_t stride = 0;
    std::vector<Shape> shapes;  // of each sample, when there are free axes
  };

  [[nodiscard]] void* place(std::size_t task, std::size_t index, std::span<const int64_t> shape);
  void fail(int64_t task, ErrorCode code, std::string message, std::string node = {});
  void check_shapes() const;

  const Stream& stream_;
  const BatchLayout& layout_;
  std::deque<Worker>& workers_;
  std::shared_ptr<BatchSlot> slot_;
  Request request_;
  std::vector<Field> fields_;
  std::atomic<int64_t> first_failure_;
  std::mutex mutex_;  // guards failure_, and fields_ with free axes
  std::optional<Failure> failure_;
};

}  // namespace tenon::engine
