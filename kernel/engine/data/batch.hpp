// A batch of samples in host memory, and the reusable slots that hold one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <engine/data/memory.hpp>
#include <tenon/array.hpp>
#include <tenon/spec.hpp>

namespace tenon::engine {

/// One field of a batch: contiguous, row-major, with the batch axis first; of a list the samples' values one behind the
/// other.
struct BatchField {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  Shape shape;
  void* data = nullptr;
};

/// A sample that could not be made.
struct BadSample {
  int64_t sample = 0;       ///< its index in the dataset
  int64_t substitute = -1;  ///< that of the sample in its place; -1: none, the batch is smaller
  std::string message;
  std::string node;  ///< at fault; empty where none is
};

/// A batch. Its memory is reused once the last copy of `memory` is gone, so whoever keeps `data` keeps that too; it may
/// outlive the loader.
struct Batch {
  std::vector<BatchField> fields;  ///< in the order of BatchLayout::outputs
  int64_t samples = 0;             ///< of this rank; 0 is possible in a short last batch over several ranks, and where
                                   ///< bad samples are skipped
  int64_t epoch = 0;
  int64_t index = 0;                ///< of the batch in its epoch
  std::vector<int64_t> sample_ids;  ///< index in the dataset of each sample
  std::vector<BadSample> bad;       ///< in the order of the batch
  std::shared_ptr<void> memory;
};

/// Memory for one batch: a block a field, and scratch for values whose place shows only at the end.
class BatchSlot {
 public:
  BatchSlot(std::size_t fields, Allocator allocate) : allocate_(std::move(allocate)), blocks_(fields) {}

  /// Memory of at least `bytes` for the field; keeps what it has when that is enough. Thread-safe for different fields.
  void* reserve(std::size_t field, std::size_t bytes);

  /// Host memory, valid until clear_scratch(). Not thread-safe. \throws std::bad_alloc
  [[nodiscard]] void* scratch(std::size_t bytes);
  void clear_scratch();

  /// Bytes of all blocks, and of the most that was in scratch.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Block {
    std::shared_ptr<void> memory;
    std::size_t size = 0;
  };

  Allocator allocate_;
  std::vector<Block> blocks_;
  Arena scratch_;
  std::size_t scratch_now_ = 0;
  std::size_t scratch_most_ = 0;
};

/// Slots that return when their last owner lets go: as many as are made ahead plus those that the caller holds at once.
class SlotPool : public std::enable_shared_from_this<SlotPool> {
 public:
  SlotPool(std::size_t fields, Allocator allocate) : fields_(fields), allocate_(std::move(allocate)) {}

  /// A free slot, or a new one. It may outlive the pool, and is freed at its end then. [any thread]
  [[nodiscard]] std::shared_ptr<BatchSlot> acquire();

 private:
  void give_back(std::unique_ptr<BatchSlot> slot) noexcept;

  std::size_t fields_;
  Allocator allocate_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BatchSlot>> free_;
  std::size_t made_ = 0;
};

}  // namespace tenon::engine
