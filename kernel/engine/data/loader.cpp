// Positions, the work ahead, and delivery in order.
#include <engine/data/loader.hpp>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

BatchPlan make_plan(const Stream& stream, const LoaderOptions& options) {
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
  const BatchPlan plan{stream.size(), options.batch, options.last, options.rank, options.world, options.limit};
  if (plan.items < 1) {
    throw Error(ErrorCode::kData, fmt::format("dataset \"{}\" is empty", stream.dataset_node()));
  }
  if (plan.batches() < 1) {
    throw Error(ErrorCode::kData,
                fmt::format("dataset \"{}\" has {} samples, less than one batch of {}, and loader \"{}\" drops a short "
                            "last batch: an epoch would be empty",
                            stream.dataset_node(), plan.items, plan.batch, options.node));
  }
  return plan;
}

TaskPool make_pool(const LoaderOptions& options) {
  try {
    return TaskPool(options.workers, options.on_thread_start);
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::kConfig, fmt::format("loader \"{}\": the system does not give {} threads ({}); set fewer "
                                                "workers",
                                                options.node, options.workers, error.what()));
  }
}

// Adds the time until it goes.
class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::nanoseconds& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::steady_clock::now() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds& total_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Loader::Loader(const Stream& stream, LoaderOptions options)
    : stream_(stream),
      options_(std::move(options)),
      plan_(make_plan(stream, options_)),
      layout_(stream.fields(), plan_.capacity()),
      slots_(std::make_shared<SlotPool>(stream.fields().size(), options_.allocate)),
      workers_(static_cast<std::size_t>(std::max(options_.workers, 1))),
      pool_(make_pool(options_)) {}

void Loader::start(int64_t epoch, int64_t first_batch, int64_t epochs) {
  if (epoch < 0 || epoch > epochs || first_batch < 0 || first_batch > (epoch < epochs ? batches() : 0)) {
    throw Error(ErrorCode::kCheckpoint,
                fmt::format("loader \"{}\": there is no batch {} in epoch {}: {} epochs of {} batches are planned",
                            options_.node, first_batch, epoch, epochs, batches()));
  }
  pool_.clear();
  order_.reset();
  epochs_ = epochs;
  epoch_ = ahead_epoch_ = epoch;
  batch_ = ahead_batch_ = first_batch;
  if (options_.workers > 0) {
    fill(options_.prefetch);
  }
}

std::optional<Batch> Loader::next() {
  if (epochs_ < 0) {
    throw std::logic_error("Loader::next before start");
  }
  if (at_end()) {
    if (epoch_ < epochs_) {
      ++epoch_;
      batch_ = 0;
    }
    return std::nullopt;
  }
  const Stopwatch watch(waited_);
  // One more than is made ahead: the one that is taken now.
  fill(options_.workers > 0 ? options_.prefetch + 1 : 1);
  const std::shared_ptr<Job> job = pool_.take();
  ++batch_;
  return static_cast<BatchJob&>(*job).finish();
}

bool Loader::wait(std::chrono::milliseconds limit) {
  if (epochs_ < 0 || at_end()) {
    return true;
  }
  const Stopwatch watch(waited_);
  return pool_.wait(limit);
}

std::vector<int64_t> Loader::in_progress() const {
  std::vector<int64_t> samples;
  for (const Worker& worker : workers_) {
    const int64_t sample = worker.sample.load(std::memory_order_relaxed);
    if (sample >= 0) {
      samples.push_back(sample);
    }
  }
  return samples;
}

// Hands in jobs until `limit` are under way or the last epoch ends. Nothing is lost when memory runs out.
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
      const int64_t epoch = options_.same_epoch ? 0 : ahead_epoch_;
      if (!order_) {
        order_.emplace(plan_.items, options_.shuffle, stream_.seed(), options_.node, epoch);
      }
      BatchJob::Request request{epoch, options_.same_epoch ? 1 : epochs_, ahead_batch_, {}};
      const Slice slice = plan_.slice(ahead_batch_);
      request.samples.reserve(static_cast<std::size_t>(slice.size()));
      for (int64_t position = slice.begin; position < slice.end; ++position) {
        request.samples.push_back((*order_)[position]);
      }
      pool_.submit(std::make_shared<BatchJob>(stream_, layout_, workers_, slots_->acquire(), std::move(request)));
      const LoaderReads::Place place{ahead_epoch_, ahead_batch_};
      if (!reads_.first || place < *reads_.first) reads_.first = place;
      reads_.samples += slice.size();
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::kMemory,
                  fmt::format("loader \"{}\": no memory for a batch of {} samples", options_.node, plan_.capacity()));
    }
    ++ahead_batch_;
  }
}

}  // namespace tenon::engine
