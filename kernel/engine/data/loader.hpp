// Batches in order, made ahead by threads; the bytes do not depend on how many threads, nor on how far ahead.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <engine/data/batch.hpp>
#include <engine/data/batch_job.hpp>
#include <engine/data/order.hpp>
#include <engine/data/stream.hpp>
#include <engine/data/task_pool.hpp>

namespace tenon::engine {

/// The loader as configured and placed.
struct LoaderOptions {
  std::string node;   ///< its name: the key of the order's random numbers
  int64_t batch = 1;  ///< samples of a batch over all ranks
  bool shuffle = false;
  LastBatch last = LastBatch::kKeep;
  int workers = 0;       ///< threads; 0: batches are made in next()
  int64_t prefetch = 2;  ///< batches made ahead while the caller works on one, at least 1; ignored without threads
  std::optional<int64_t> limit = {};  ///< batches of an epoch at most
  bool same_epoch = false;            ///< every epoch has the order and the random numbers of epoch 0 of 1
  int64_t rank = 0;
  int64_t world = 1;
  Allocator allocate = host_memory;       ///< memory of the batches
  std::function<void()> on_thread_start;  ///< called first on each thread: number of intra-op threads, names, …
};

/// What was asked of a stream since a loader was made: proof of where it began.
struct LoaderReads {
  int64_t samples = 0;
  struct Place {
    int64_t epoch = 0;
    int64_t batch = 0;

    friend bool operator<(const Place& a, const Place& b) noexcept {
      return std::pair(a.epoch, a.batch) < std::pair(b.epoch, b.batch);
    }
  };
  std::optional<Place> first;  ///< The least position.
};

/// One reader of a stream. Its threads live as long as it does. All calls from one thread.
class Loader {
 public:
  /// The stream's dataset is open; the stream outlives the loader.
  /// \throws Error: kConfig for options out of range, kData when an epoch would have no batch.
  Loader(const Stream& stream, LoaderOptions options);

  /// Waits for the samples that are being made, no others, and joins the threads.
  ~Loader() = default;

  /// Batches of an epoch, the same for every epoch and rank.
  [[nodiscard]] int64_t batches() const noexcept { return plan_.batches(); }
  [[nodiscard]] const BatchPlan& plan() const noexcept { return plan_; }

  /// Goes to a batch and begins to make it and those after it, up to the end of epoch `epochs` - 1; what was under way
  /// is dropped. Nothing before the batch is read. `first_batch` may be batches(): the end of that epoch.
  /// A validation starts at epoch 0 of 1 each time and so sees the same bytes each time.
  /// \throws Error (kCheckpoint) for a position that does not exist.
  void start(int64_t epoch, int64_t first_batch, int64_t epochs);

  /// The next batch; nothing at the end of each epoch, after which the next call goes on with the epoch that follows;
  /// nothing for good after the last. A sample that failed is reported at its batch, once, the first of the batch for
  /// all; the next call then goes on behind that batch. \throws Error (kData)
  [[nodiscard]] std::optional<Batch> next();

  /// Waits no longer than `limit` for next() to have its answer ready, so that a caller can look at signals and
  /// deadlines meanwhile. Without threads there is nothing to wait for: true.
  [[nodiscard]] bool wait(std::chrono::milliseconds limit);

  /// Dataset indices of the samples that threads are on at this moment: whom to blame when wait() goes on for too long.
  [[nodiscard]] std::vector<int64_t> in_progress() const;

  /// Samples that were handed to threads or read, delivered or not.
  [[nodiscard]] const LoaderReads& reads() const noexcept { return reads_; }

  /// Time spent in next() and wait() so far: what training lost to data.
  [[nodiscard]] std::chrono::nanoseconds waited() const noexcept { return waited_; }

 private:
  void fill(int64_t limit);
  [[nodiscard]] bool at_end() const noexcept { return epoch_ >= epochs_ || batch_ == batches(); }

  const Stream& stream_;
  LoaderOptions options_;
  BatchPlan plan_;
  BatchLayout layout_;
  std::shared_ptr<SlotPool> slots_;
  std::deque<Worker> workers_;
  std::chrono::nanoseconds waited_{0};
  LoaderReads reads_;

  int64_t epochs_ = -1;  // -1: start() has not been called
  int64_t epoch_ = 0;    // of the next batch to deliver
  int64_t batch_ = 0;
  int64_t ahead_epoch_ = 0;  // of the next batch to make
  int64_t ahead_batch_ = 0;
  std::optional<EpochOrder> order_;  // of ahead_epoch_
  TaskPool pool_;                    // last: its threads end before what they use
};

}  // namespace tenon::engine
