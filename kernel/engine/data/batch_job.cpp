// Samples into their places; what becomes of bad ones, in an order that does not depend on the threads.
#include <engine/data/batch_job.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace tenon::engine {
namespace {

constexpr std::size_t kBytesCopiedAtOnce = std::size_t{1} << 20U;
constexpr int kSubstitutes = 8;

}  // namespace

// One sample's place in the batch.
class BatchJob::Place final : public Destination {
 public:
  Place(BatchJob& job, std::size_t task) : job_(job), task_(task) {}
  void* place(int field, std::span<const int64_t> shape) override {
    return job_.place(task_, static_cast<std::size_t>(field), shape);
  }

 private:
  BatchJob& job_;
  std::size_t task_;
};

BatchJob::Request BatchJob::request(std::shared_ptr<const EpochOrder> order, Slice slice, int64_t epoch, int64_t epochs,
                                    int64_t index) {
  Request request{epoch, epochs, index, {}, slice.begin, {}};
  request.samples.reserve(static_cast<std::size_t>(slice.size()));
  for (int64_t position = slice.begin; position < slice.end; ++position) {
    request.samples.push_back((*order)[position]);
  }
  request.order = std::move(order);
  return request;
}

BatchJob::BatchJob(const Stream& stream, const BatchLayout& layout, std::deque<Worker>& workers,
                   std::shared_ptr<BatchSlot> slot, Request request)
    : stream_(stream),
      layout_(layout),
      workers_(workers),
      slot_(std::move(slot)),
      request_(std::move(request)),
      tasks_(static_cast<int64_t>(request_.samples.size())),
      left_(tasks_),
      fields_(layout.fields.size()),
      first_failure_(tasks_) {
  const std::size_t samples = request_.samples.size();
  std::size_t bytes = 0;  // of a sample
  bool stacks = true;
  bool scatters = false;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const BatchLayout::Field& known = layout.fields[i];
    Field& field = fields_[i];
    stacks = stacks && known.fixed && known.how == Collate::kStack;
    bytes += known.stride;
    if (known.fixed) {
      field.shape = known.shape;
      field.stride = known.stride;
      field.data = static_cast<std::byte*>(slot_->reserve(i, known.stride * static_cast<std::size_t>(layout.capacity)));
    } else {
      field.values.resize(samples);
      scatters = true;
    }
    if (!known.fixed || known.how != Collate::kStack) {
      field.sizes.resize(samples * known.shape.size());
    }
  }
  if (scatters) {
    slot_->clear_scratch();
  }
  if (layout.bad != OnBadSample::kFail) {
    lost_.resize(samples);
  }
  if (stacks && tasks_ > 0 && stream.copies()) {
    copied_at_once_ =
        static_cast<int64_t>(std::max<std::size_t>(kBytesCopiedAtOnce / std::max<std::size_t>(bytes, 1), 1));
    tasks_ = (tasks_ + copied_at_once_ - 1) / copied_at_once_;
    left_ = tasks_;
  } else {
    fetches_ahead_ = stream.in_memory();
  }
}

void BatchJob::run(int64_t task, int worker) noexcept {
  Worker& own = workers_[static_cast<std::size_t>(worker)];
  // Behind a failed sample none is needed: an earlier one speaks for the batch.
  if (task <= first_failure_.load(std::memory_order_relaxed)) {
    if (copied_at_once_ > 0) {
      copy(task, own);
    } else {
      const auto next = static_cast<std::size_t>(task) + 1;
      if (fetches_ahead_ && next < request_.samples.size()) {
        own.sample.store(request_.samples[next], std::memory_order_relaxed);
        stream_.prefetch(request_.samples[next]);
      }
      make(static_cast<std::size_t>(task), own);
    }
    own.sample.store(-1, std::memory_order_relaxed);
  }
  // Whoever ends last sees what the others wrote.
  if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    assemble();
  }
}

void BatchJob::copy(int64_t task, Worker& own) {
  const auto begin = static_cast<std::size_t>(task * copied_at_once_);
  const std::size_t count = std::min(static_cast<std::size_t>(copied_at_once_), request_.samples.size() - begin);
  try {
    std::vector<std::byte*> places;
    places.reserve(fields_.size());
    for (const Field& field : fields_) {
      places.push_back(field.data + begin * field.stride);
    }
    stream_.copy(std::span(request_.samples).subspan(begin, count), places, own.sample);
  } catch (const DataError&) {
    for (std::size_t i = begin; i < begin + count; ++i) make(i, own);  // one of them is bad: each by itself
  } catch (const std::exception& error) {
    fail({static_cast<int64_t>(begin),
          ErrorCode::kMemory,
          fmt::format("no memory to copy a batch: {}", error.what()),
          {}});
  }
}

void BatchJob::make(std::size_t task, Worker& own) {
  const int64_t position = request_.position + static_cast<int64_t>(task);
  const int64_t occurrence = request_.order == nullptr ? 0 : request_.order->occurrence(position);
  std::optional<Failure> failure =
      make(task, {request_.samples[task], request_.epoch, request_.epochs, occurrence}, own);
  if (!failure) {
    return;
  }
  if (failure->code != ErrorCode::kData || layout_.bad == OnBadSample::kFail) {
    fail(*std::move(failure));
  } else if (layout_.bad == OnBadSample::kSkip || request_.order == nullptr) {
    lost_[task] = 1;
    lose(task, *std::move(failure), -1);
  } else {
    substitute(task, *std::move(failure), own);
  }
}

std::optional<BatchJob::Failure> BatchJob::make(std::size_t task, const SampleKey& key, Worker& own) {
  own.sample.store(key.index, std::memory_order_relaxed);
  const auto number = static_cast<int64_t>(task);
  try {
    Place place(*this, task);
    stream_.run(key, place, own.workspace);
  } catch (const DataError& error) {
    return Failure{number, error.code(), error.what(), error.node()};
  } catch (const Error& error) {
    return Failure{number, error.code(), error.what(), {}};
  } catch (const std::exception& error) {
    return Failure{number, ErrorCode::kMemory, fmt::format("no memory for sample {}: {}", key.index, error.what()), {}};
  }
  return std::nullopt;
}

void BatchJob::substitute(std::size_t task, Failure failure, Worker& own) {
  const int64_t position = request_.position + static_cast<int64_t>(task);
  const int64_t occurrence = request_.order->substitute_occurrence(position);
  std::vector<int64_t> tried{request_.samples[task]};
  for (int attempt = 0; attempt < kSubstitutes; ++attempt) {
    const int64_t chosen = request_.order->substitute(position, attempt);
    if (std::find(tried.begin(), tried.end(), chosen) != tried.end()) {
      continue;
    }
    std::optional<Failure> again = make(task, {chosen, request_.epoch, request_.epochs, occurrence}, own);
    if (!again) {
      lose(task, std::move(failure), chosen);
      return;
    }
    if (again->code != ErrorCode::kData) {
      fail(*std::move(again));
      return;
    }
    tried.push_back(chosen);
  }
  failure.message += fmt::format("; {} other samples in its place could not be made either", tried.size() - 1);
  fail(std::move(failure));
}

void BatchJob::lose(std::size_t task, Failure failure, int64_t substitute) {
  const std::lock_guard lock(mutex_);
  bad_.emplace_back(task,
                    BadSample{request_.samples[task], substitute, std::move(failure.message), std::move(failure.node)});
}

void BatchJob::fail(Failure failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_ || failure.task < failure_->task) {
    first_failure_.store(failure.task, std::memory_order_relaxed);
    failure_ = std::move(failure);
  }
}

void* BatchJob::place(std::size_t task, std::size_t index, std::span<const int64_t> shape) {
  const BatchLayout::Field& known = layout_.fields[index];
  Field& field = fields_[index];
  if (known.fixed && known.how == Collate::kStack) {
    return field.data + task * field.stride;
  }
  std::copy(shape.begin(), shape.end(), field.sizes.begin() + static_cast<std::ptrdiff_t>(task * shape.size()));
  if (known.to) {
    for (const std::size_t axis : known.free_axes) {
      if (shape[axis] > *known.to) {
        throw Error(ErrorCode::kData,
                    fmt::format("field \"{}\" has {} on axis {}, more than the {} to which it is padded",
                                layout_.spec[index].name, shape[axis], axis, *known.to));
      }
    }
  }
  if (known.fixed) {
    std::byte* const place = field.data + task * field.stride;
    const std::size_t bytes = static_cast<std::size_t>(elements(shape)) * known.fill.size;
    fill_with(place + bytes, field.stride - bytes, known.fill);
    return place;
  }
  try {
    return place_of_value(task, index, shape);
  } catch (const std::exception& error) {  // no fault of the sample's
    fail({static_cast<int64_t>(task),
          ErrorCode::kMemory,
          fmt::format("no memory for field \"{}\" of a batch of {} samples: {}", layout_.spec[index].name,
                      request_.samples.size(), error.what()),
          {}});
    throw;
  }
}

/// Values of one shape are stacked where they are made: the first to arrive gives the shape. All others wait in scratch.
void* BatchJob::place_of_value(std::size_t task, std::size_t index, std::span<const int64_t> shape) {
  Field& field = fields_[index];
  const std::lock_guard lock(mutex_);
  if (layout_.fields[index].how == Collate::kStack) {
    if (field.data == nullptr) {
      Shape all{static_cast<int64_t>(request_.samples.size())};
      all.insert(all.end(), shape.begin(), shape.end());
      field.data = reserve(index, all);
      field.shape.assign(shape.begin(), shape.end());
      field.stride = static_cast<std::size_t>(elements(shape)) * size_of(layout_.fields[index].dtype);
    }
    if (std::equal(shape.begin(), shape.end(), field.shape.begin())) {
      return field.values[task] = field.data + task * field.stride;
    }
  }
  const std::size_t bytes = static_cast<std::size_t>(elements(shape)) * size_of(layout_.fields[index].dtype);
  return field.values[task] = static_cast<std::byte*>(slot_->scratch(bytes));
}

Batch BatchJob::finish() {
  if (tasks_ == 0) {
    assemble();
  }
  if (failure_) {
    throw DataError(failure_->code, failure_->message, failure_->node);
  }
  if (error_) {
    std::rethrow_exception(std::exchange(error_, nullptr));  // whoever drops this job last does not own it then
  }
  batch_.memory = std::move(slot_);
  return std::move(batch_);
}

void BadSampleCount::take(const Batch& batch) {
  if (batch.epoch != epoch_ || batch.index <= index_) in_epoch_ = 0;
  epoch_ = batch.epoch;
  index_ = batch.index;
  for (const BadSample& bad : batch.bad) {
    if (params_ && in_epoch_ == params_->max) {
      throw DataError(ErrorCode::kData,
                      fmt::format("{}; epoch {} had {} bad samples before, and bad_sample allows no more", bad.message,
                                  batch.epoch, in_epoch_),
                      bad.node);
    }
    ++in_epoch_;
    ++untold_.count;
    if (untold_.first.size() < BadSamples::kFirst) untold_.first.push_back(bad);
  }
}

}  // namespace tenon::engine
