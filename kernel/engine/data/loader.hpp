// Batches in order, made ahead by threads; the bytes do not depend on how many threads, nor on how far ahead.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <engine/data/batch.hpp>
#include <engine/data/batch_job.hpp>
#include <engine/data/collate.hpp>
#include <engine/data/loader_facts.hpp>
#include <engine/data/order.hpp>
#include <engine/data/sampler.hpp>
#include <engine/data/stream.hpp>
#include <engine/data/task_pool.hpp>
#include <engine/data/worker_tuner.hpp>

namespace tenon::engine {

/// The loader as configured and placed.
struct LoaderOptions {
  std::string node;   ///< its name: the key of the order's random numbers
  int64_t batch = 1;  ///< samples of a batch over all ranks
  bool shuffle = false;
  std::shared_ptr<const Sampler> sampler = {};  ///< the orders of epochs; empty: each sample once, by `shuffle`
  CollateOptions collate = {};                  ///< how samples become batches; `bad` is given by `bad_sample`
  std::optional<core::BadSampleParams> bad_sample = {};  ///< empty: a sample that cannot be made is an error
  LastBatch last = LastBatch::kKeep;
  int workers = 0;         ///< threads; 0: batches are made in next()
  bool automatic = false;  ///< as many threads as are seen to help, for data in memory none too; `workers` is not read
  int cores = 0;           ///< what `automatic` reckons with; 0: those that this process may use
  int64_t prefetch = 2;    ///< batches made ahead while the caller works on one, at least 1; ignored without threads
  int64_t memory = int64_t{1} << 30;           ///< bytes that the batches made ahead take at most
  std::chrono::nanoseconds sample_timeout{0};  ///< the longest that a sample may take on a thread; 0: no limit
  std::optional<int64_t> limit = {};           ///< batches of an epoch at most
  bool same_epoch = false;                     ///< every epoch has the order and the random numbers of epoch 0 of 1
  int64_t rank = 0;
  int64_t world = 1;
  Allocator allocate = host_memory;       ///< memory of the batches
  std::function<void()> on_thread_start;  ///< called first on each thread: number of intra-op threads, names, …

  /// Keeps the stream alive. With it the loader gives up threads that do not come back from a sample; they hold on to
  /// it. Without it, its end waits for as long as a sample takes.
  std::shared_ptr<const void> keep = {};
};

/// Bytes that batches take at most while a loader with these options works and its caller keeps one of them: those made
/// ahead, the one that is being taken and the one that is kept. Half of `memory` counts for a batch at least, as it may
/// take where sizes are not known before. The stream's dataset is open. \throws as BatchLayout does
[[nodiscard]] std::size_t most_bytes(const Stream& stream, const LoaderOptions& options);

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
///
/// Made ahead are at most `prefetch` batches, and no more than fit into `memory`, but one in any case. The size of a
/// batch is known where every axis is; else it is that of the largest one so far.
class Loader {
 public:
  /// The stream's dataset is open; the stream outlives the loader, unless LoaderOptions::keep is the one that owns it.
  /// \throws Error: kConfig for options out of range, kData when an epoch would have no batch.
  Loader(const Stream& stream, LoaderOptions options);

  /// As end().
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
  /// all, or, where bad samples are tolerated, the first one too many; the next call then goes on behind that batch. A
  /// sample that takes longer than the limit while this waits ends the loader, and its error comes from every further
  /// call. \throws Error (kData)
  [[nodiscard]] std::optional<Batch> next();

  /// Waits no longer than `limit` for next() to have its answer ready, so that a caller can look at signals and
  /// deadlines meanwhile. Without threads there is nothing to wait for: true. \throws as next() does for a sample that
  /// takes too long.
  [[nodiscard]] bool wait(std::chrono::milliseconds limit);

  /// Ends the threads, once: waits for the samples that are being made, no others. False when some are given up, see
  /// LoaderOptions::keep: whatever they read must not be destroyed.
  bool end();

  /// Samples that were handed to threads or read, delivered or not.
  [[nodiscard]] const LoaderReads& reads() const noexcept { return reads_; }

  /// Time spent in next() and wait() so far: what training lost to data.
  [[nodiscard]] std::chrono::nanoseconds waited() const noexcept { return waited_; }

  /// Samples of the batches since the last call that could not be made, and were left out or replaced.
  [[nodiscard]] BadSamples take_bad_samples() { return bad_samples_.take_untold(); }

  /// What it takes and what it measured so far.
  [[nodiscard]] LoaderFacts facts() const;

 private:
  /// What threads use, also those that are given up.
  struct Parts {
    Parts(BatchLayout shapes, std::size_t count, std::shared_ptr<const void> kept)
        : layout(std::move(shapes)), workers(count), stream(std::move(kept)) {}

    BatchLayout layout;
    std::deque<Worker> workers;
    std::shared_ptr<const void> stream;
  };
  struct Window {
    LoaderWindow sums;
    TaskPool::Work work;
    std::chrono::nanoseconds waited{0};
    std::chrono::steady_clock::time_point begin;
  };

  void fill(int64_t limit);
  void submit_next();
  std::shared_ptr<const EpochOrder> take_order(int64_t epoch);
  void prepare_order();
  [[nodiscard]] int64_t ahead() const noexcept;
  void note_size(const BatchJob& job);
  void choose_threads();
  void tune();
  void begin_window();
  void await();
  void require_progress();
  [[nodiscard]] bool at_end() const noexcept { return epoch_ >= epochs_ || batch_ == batches(); }

  const Stream& stream_;
  LoaderOptions options_;
  std::shared_ptr<const Sampler> sampler_;
  BatchPlan plan_;
  std::shared_ptr<Parts> parts_;
  std::shared_ptr<SlotPool> slots_;
  bool sizes_known_ = false;
  int64_t batch_bytes_ = 0;  // of the largest so far, or of all
  std::chrono::nanoseconds waited_{0};
  std::chrono::steady_clock::time_point returned_;  // from next()
  LoaderReads reads_;

  int64_t epochs_ = -1;  // -1: start() has not been called
  int64_t epoch_ = 0;    // of the next batch to deliver
  int64_t batch_ = 0;
  int64_t ahead_epoch_ = 0;  // of the next batch to make
  int64_t ahead_batch_ = 0;
  std::shared_ptr<const EpochOrder> order_;                    // of ahead_epoch_
  std::future<std::shared_ptr<const EpochOrder>> next_order_;  // of next_order_epoch_
  int64_t next_order_epoch_ = -1;
  int64_t delivered_ = 0;
  double samples_per_task_ = 1;
  BadSampleCount bad_samples_;

  std::optional<WorkerTuner> tuner_;
  bool chosen_ = false;     // the tuner has begun
  int64_t settling_ = 0;    // batches until a window may begin
  double usual_away_ = -1;  // s between two calls of next(): a moving mean; -1: not known yet
  Window window_;
  std::optional<DataError> ended_by_;
  TaskPool pool_;  // last: its threads end before what they use
};

}  // namespace tenon::engine
