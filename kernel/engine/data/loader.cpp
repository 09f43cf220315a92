// Positions, the work ahead, and delivery in order.
#include <engine/data/loader.hpp>

#include <algorithm>
#include <new>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <engine/data/hanging.hpp>
#include <engine/data/machine.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int kMostThreads = 32;                       // that "auto" takes, unless there are more cores
constexpr std::chrono::microseconds kCheapBatch{300};  // made by one thread that is just being started
constexpr milliseconds kSlice{100};                    // of waiting, between two looks at deadlines
constexpr milliseconds kGrace{50};                     // for threads that are on other samples than the one that hangs
constexpr int64_t kLongOrder = 50'000;                 // items, from which on an order is not made between two steps

std::shared_ptr<const Sampler> sampler_of(const Stream& stream, const LoaderOptions& options) {
  if (options.sampler != nullptr) return options.sampler;
  return std::make_shared<const Sampler>(OrderOptions{.items = stream.size(),
                                                      .shuffle = options.shuffle,
                                                      .batch = options.batch,
                                                      .seed = stream.seed(),
                                                      .node = options.node},
                                         OrderColumns{});
}

BatchPlan make_plan(const Stream& stream, const LoaderOptions& options, int64_t samples) {
  const auto require = [&](bool holds, const std::string& what) {
    if (!holds) {
      throw Error(ErrorCode::kConfig, fmt::format("loader \"{}\": {}", options.node, what));
    }
  };
  require(options.batch >= 1, fmt::format("batch is {}, and must be at least 1", options.batch));
  require(options.workers >= 0, fmt::format("workers is {}, and must be at least 0", options.workers));
  require(options.prefetch >= 1, fmt::format("prefetch is {}, and must be at least 1", options.prefetch));
  require(options.world >= 1 && options.rank >= 0 && options.rank < options.world,
          fmt::format("there is no rank {} of {}", options.rank, options.world));
  const BatchPlan plan{samples, options.batch, options.last, options.rank, options.world, options.limit};
  if (plan.items < 1) {
    throw Error(ErrorCode::kData, fmt::format("dataset \"{}\" is empty", stream.dataset_node()));
  }
  if (plan.batches() < 1) {
    throw Error(ErrorCode::kData,
                fmt::format("dataset \"{}\" has {} samples, less than one batch of {}, and loader \"{}\" drops a short "
                            "last batch: an epoch would be empty; set \"batch\" to {} at most, or \"last\" to \"keep\"",
                            stream.dataset_node(), plan.items, plan.batch, options.node, plan.items));
  }
  return plan;
}

LoaderOptions completed(LoaderOptions options) {
  if (options.cores < 1) options.cores = usable_cores();
  if (options.automatic) options.workers = 0;  // they come with the first batch
  if (options.bad_sample) {
    const bool skips = options.bad_sample->policy == core::BadSamplePolicy::kSkip;
    options.collate.bad = skips ? OnBadSample::kSkip : OnBadSample::kSubstitute;
  }
  return options;
}

int most_threads(const LoaderOptions& options) {
  return options.automatic ? std::max(kMostThreads, options.cores) : options.workers;
}

TaskPool::Options pool_options(const LoaderOptions& options, std::shared_ptr<const void> keep) {
  return {options.workers, most_threads(options), options.on_thread_start, std::move(keep)};
}

// Adds the time until it goes.
class Stopwatch {
 public:
  explicit Stopwatch(nanoseconds& total) : total_(total) {}
  ~Stopwatch() { total_ += Clock::now() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  nanoseconds& total_;
  Clock::time_point begin_ = Clock::now();
};

double seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// Of one field of a full batch; 0 where an axis is free.
std::size_t bytes_of(const FieldSpec& output, int64_t samples) {
  std::size_t bytes = size_of(output.dtype) * static_cast<std::size_t>(samples);
  for (const Dim& dim : std::span(output.shape).subspan(1)) {
    bytes *= static_cast<std::size_t>(dim.fixed() ? dim.size : 0);
  }
  return bytes;
}

}  // namespace

std::size_t most_bytes(const Stream& stream, const LoaderOptions& options) {
  const BatchPlan plan{stream.size(), options.batch, options.last, options.rank, options.world, options.limit};
  const BatchLayout layout(stream.fields(), plan.capacity(), options.collate);
  std::size_t batch = 0;
  for (const FieldSpec& output : layout.outputs) batch += bytes_of(output, layout.capacity);
  const auto memory = static_cast<std::size_t>(options.memory);
  batch = std::max(batch, memory / 2);
  return std::max(batch, memory) + 2 * batch;
}

Loader::Loader(const Stream& stream, LoaderOptions options) try
    : stream_(stream),
      options_(completed(std::move(options))),
      sampler_(sampler_of(stream, options_)),
      plan_(make_plan(stream, options_, sampler_->samples())),
      parts_(std::make_shared<Parts>(BatchLayout(stream.fields(), plan_.capacity(), options_.collate),
                                     static_cast<std::size_t>(most_threads(options_)) + 1, options_.keep)),
      slots_(std::make_shared<SlotPool>(parts_->layout.outputs.size(), options_.allocate)),
      bad_samples_(options_.bad_sample),
      pool_(pool_options(options_, options_.keep == nullptr ? nullptr : parts_)) {
  const std::vector<BatchLayout::Field>& fields = parts_->layout.fields;
  sizes_known_ = std::all_of(fields.begin(), fields.end(), [](const BatchLayout::Field& field) { return field.fixed; });
  if (sizes_known_) batch_bytes_ = static_cast<int64_t>(parts_->layout.bytes());
  if (options_.automatic) tuner_.emplace(options_.cores, most_threads(options_), stream.in_memory());
} catch (const std::system_error& error) {
  throw Error(ErrorCode::kConfig,
              fmt::format("a loader does not get its threads from the system ({}); set fewer workers", error.what()));
}

void Loader::start(int64_t epoch, int64_t first_batch, int64_t epochs) {
  if (epoch < 0 || epoch > epochs || first_batch < 0 || first_batch > (epoch < epochs ? batches() : 0)) {
    throw Error(ErrorCode::kCheckpoint,
                fmt::format("loader \"{}\": there is no batch {} in epoch {}: {} epochs of {} batches are planned",
                            options_.node, first_batch, epoch, epochs, batches()));
  }
  if (ended_by_) throw DataError(*ended_by_);
  pool_.clear();
  order_.reset();
  epochs_ = epochs;
  epoch_ = ahead_epoch_ = epoch;
  batch_ = ahead_batch_ = first_batch;
  settling_ = 1;
  if (tuner_ && !chosen_) {
    choose_threads();
  } else {
    fill(ahead());
    pool_.wake();
  }
}

std::optional<Batch> Loader::next() {
  if (epochs_ < 0) {
    throw std::logic_error("Loader::next before start");
  }
  if (ended_by_) throw DataError(*ended_by_);
  if (at_end()) {
    if (epoch_ < epochs_) {
      ++epoch_;
      batch_ = 0;
    }
    return std::nullopt;
  }
  if (tuner_) tune();
  std::shared_ptr<Job> taken;
  {
    const Stopwatch watch(waited_);
    // One more than is made ahead: the one that is taken now. Where memory has no room for two, one at a time.
    const bool alone = pool_.threads() == 0 || batch_bytes_ > options_.memory;
    fill(alone ? 1 : ahead() + 1);
    if (!pool_.ready()) {
      pool_.wake();
      await();
    }
    taken = pool_.take();
    if (alone) {
      try {
        fill(ahead());
      } catch (const Error&) {
        // Memory ran out behind the batch that is there: the next call tries again, and tells.
      }
    }
    pool_.wake();
    ++batch_;
    ++delivered_;
  }
  returned_ = Clock::now();
  auto& job = static_cast<BatchJob&>(*taken);
  note_size(job);
  Batch batch = job.finish();
  if (job.tasks() > 0) samples_per_task_ = static_cast<double>(batch.samples) / static_cast<double>(job.tasks());
  bad_samples_.take(batch);
  return batch;
}

bool Loader::wait(milliseconds limit) {
  if (ended_by_) throw DataError(*ended_by_);
  if (epochs_ < 0 || at_end() || pool_.threads() == 0) {
    return true;
  }
  if (pool_.ready()) return true;
  const Stopwatch watch(waited_);
  if (batch_bytes_ <= options_.memory) {  // as in next()
    fill(ahead() + 1);
    pool_.wake();
  }
  const bool ready = pool_.wait(limit);
  if (!ready) require_progress();
  return ready;
}

bool Loader::end() {
  pool_.end();
  return !pool_.abandoned();
}

LoaderFacts Loader::facts() const {
  const TaskPool::Work work = pool_.work();
  LoaderFacts facts;
  facts.node = options_.node;
  facts.automatic = options_.automatic;
  facts.settled = !tuner_ || tuner_->settled();
  facts.workers = pool_.threads();
  facts.cores = options_.cores;
  facts.prefetch = options_.prefetch;
  facts.memory = options_.memory;
  facts.ahead = ahead();
  facts.batch_bytes = batch_bytes_;
  facts.batches = delivered_;
  facts.samples = static_cast<int64_t>(static_cast<double>(work.tasks) * samples_per_task_);
  facts.wall = seconds(work.wall);
  facts.cpu = seconds(work.cpu);
  return facts;
}

/// Batches that may be under way while the caller works on one.
int64_t Loader::ahead() const noexcept {
  if (pool_.threads() == 0) return 0;
  if (batch_bytes_ == 0) return sizes_known_ ? options_.prefetch : 1;
  return std::clamp<int64_t>(options_.memory / batch_bytes_, 1, options_.prefetch);
}

void Loader::note_size(const BatchJob& job) {
  if (!sizes_known_) batch_bytes_ = std::max(batch_bytes_, static_cast<int64_t>(job.bytes()));
}

/// All cores are there for the first batch. For data in memory one thread makes it; what is ready before it is worth
/// while to have threads needs none. What may wait for a disk always has a thread: nothing else finds out that it hangs.
void Loader::choose_threads() {
  chosen_ = true;
  if (stream_.in_memory()) {
    pool_.set_threads(1);
    fill(ahead());
    pool_.wake();
    if (pool_.pending() > 0 && pool_.wait(kCheapBatch)) tuner_->begin_without_threads();
  }
  pool_.set_threads(tuner_->threads());
  fill(ahead());
  pool_.wake();
  settling_ = pool_.pending() + 1;
}

void Loader::begin_window() {
  window_.sums = {};
  window_.work = pool_.work();
  window_.waited = waited_;
  window_.begin = Clock::now();
}

/// At a batch's border, between the caller's work and the wait for the next batch.
void Loader::tune() {
  const Clock::time_point now = Clock::now();
  if (settling_ > 0) {
    if (--settling_ == 0) begin_window();
    return;
  }
  LoaderWindow& window = window_.sums;
  const double elapsed = seconds(now - window_.begin);
  // The caller was about something else than a step, such as a validation. It may be slower from here on, too.
  const double away = seconds(now - returned_);
  const double usual = std::exchange(usual_away_, usual_away_ < 0 ? away : usual_away_ + (away - usual_away_) / 8);
  if (away > 0.1 && usual >= 0 && away > 5 * usual) {
    settling_ = pool_.pending() + 1;
    return;
  }
  ++window.batches;
  const double least = tuner_->settled() ? 0.25 : 0.06;
  if ((elapsed < least || window.batches < 8) && (elapsed < 1.5 || window.batches < 2)) return;
  const TaskPool::Work work = pool_.work();
  window.seconds = elapsed;
  window.waited = seconds(waited_ - window_.waited);
  window.tasks = work.tasks - window_.work.tasks;
  window.wall = seconds(work.wall - window_.work.wall);
  window.cpu = seconds(work.cpu - window_.work.cpu);
  const int before = tuner_->threads();
  tuner_->observe(window);
  if (tuner_->threads() == before) {
    begin_window();
    return;
  }
  pool_.set_threads(tuner_->threads());
  settling_ = std::max(pool_.pending(), ahead()) + 1;
}

/// Until the oldest batch is there.
void Loader::await() {
  while (!pool_.wait(kSlice)) require_progress();
}

void Loader::require_progress() {
  if (options_.sample_timeout <= nanoseconds::zero()) return;
  const std::optional<int> worker = pool_.overdue(options_.sample_timeout);
  if (!worker) return;
  const int64_t sample = parts_->workers[static_cast<std::size_t>(*worker)].sample.load(std::memory_order_relaxed);
  if (sample < 0) return;  // it came back meanwhile, or puts a batch together
  const core::Breadcrumb call = pool_.call_of(*worker);
  pool_.abandon(kGrace);
  ended_by_ = hanging_error(stream_, sample, call, options_.sample_timeout);
  throw DataError(*ended_by_);
}

// Hands in jobs until `limit` are under way or the last epoch ends; threads are not woken for them, unless memory runs
// out. Nothing is lost then.
void Loader::fill(int64_t limit) {
  while (pool_.pending() < limit) {
    if (ahead_batch_ == batches()) {
      ++ahead_epoch_;
      ahead_batch_ = 0;
      if (!options_.same_epoch) order_.reset();
    }
    if (ahead_epoch_ >= epochs_) {
      return;
    }
    try {
      submit_next();
    } catch (const std::bad_alloc&) {
      pool_.wake();
      throw Error(ErrorCode::kMemory,
                  fmt::format("loader \"{}\": no memory for a batch of {} samples", options_.node, plan_.capacity()));
    }
    ++ahead_batch_;
  }
}

void Loader::submit_next() {
  const int64_t epoch = options_.same_epoch ? 0 : ahead_epoch_;
  if (order_ == nullptr) order_ = take_order(epoch);
  const Slice slice = plan_.slice(ahead_batch_);
  pool_.submit_quietly(std::make_shared<BatchJob>(
      stream_, parts_->layout, parts_->workers, slots_->acquire(),
      BatchJob::request(order_, slice, epoch, options_.same_epoch ? 1 : epochs_, ahead_batch_)));
  const LoaderReads::Place place{ahead_epoch_, ahead_batch_};
  if (!reads_.first || place < *reads_.first) reads_.first = place;
  reads_.samples += slice.size();
  prepare_order();
}

std::shared_ptr<const EpochOrder> Loader::take_order(int64_t epoch) {
  if (next_order_.valid()) {
    std::shared_ptr<const EpochOrder> ready = next_order_.get();
    if (next_order_epoch_ == epoch) return ready;
  }
  return std::make_shared<const EpochOrder>(sampler_->epoch(epoch));
}

/// From the middle of an epoch on, the next one's order is made beside it, where that takes long.
void Loader::prepare_order() {
  const int64_t next = ahead_epoch_ + 1;
  const bool is_trifle = plan_.items < kLongOrder || (options_.sampler == nullptr && !options_.shuffle);
  if (is_trifle || options_.same_epoch || next >= epochs_ || next_order_.valid() || ahead_batch_ < batches() / 2) {
    return;
  }
  try {
    next_order_ = std::async(std::launch::async, [sampler = sampler_, next] {
      give_way();
      return std::make_shared<const EpochOrder>(sampler->epoch(next));
    });
    next_order_epoch_ = next;
  } catch (const std::system_error&) {
    // No thread is to be had: it is made when it is needed.
  }
}

}  // namespace tenon::engine
