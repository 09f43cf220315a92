// Samples into their places, failures and shapes into an order that does not depend on the threads.
#include <engine/data/batch_job.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

namespace tenon::engine {

BatchLayout::BatchLayout(Spec fields_of_a_sample, int64_t most_samples)
    : spec(std::move(fields_of_a_sample)), capacity(most_samples) {
  for (const FieldSpec& field : spec) {
    Field& added = fields.emplace_back();
    added.dtype = field.dtype;
    added.fixed = std::all_of(field.shape.begin(), field.shape.end(), [](const Dim& dim) { return dim.fixed(); });
    auto bytes = static_cast<int64_t>(size_of(field.dtype));
    bool overflow = false;
    for (const Dim& dim : field.shape) {
      added.shape.push_back(dim.fixed() ? dim.size : 0);
      overflow = overflow || __builtin_mul_overflow(bytes, added.shape.back(), &bytes);
    }
    int64_t batch = 0;
    if (overflow || __builtin_mul_overflow(bytes, capacity, &batch)) {
      throw Error(ErrorCode::kMemory,
                  fmt::format("field \"{}\": {} times {} samples of a batch is more than any memory holds", field.name,
                              to_string(field), capacity));
    }
    added.stride = static_cast<std::size_t>(bytes);
  }
}

// One sample's place in the batch.
class BatchJob::Place final : public Destination {
 public:
  Place(BatchJob& job, int64_t task) : job_(job), task_(task) {}
  void* place(int field, std::span<const int64_t> shape) override {
    return job_.place(static_cast<std::size_t>(task_), static_cast<std::size_t>(field), shape);
  }

 private:
  BatchJob& job_;
  int64_t task_;
};

BatchJob::BatchJob(const Stream& stream, const BatchLayout& layout, std::deque<Worker>& workers,
                   std::shared_ptr<BatchSlot> slot, Request request)
    : stream_(stream),
      layout_(layout),
      workers_(workers),
      slot_(std::move(slot)),
      request_(std::move(request)),
      fields_(layout.fields.size()),
      first_failure_(tasks()) {
  const std::size_t samples = request_.samples.size();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const BatchLayout::Field& known = layout.fields[i];
    Field& field = fields_[i];
    if (known.fixed || samples == 0) {
      field.shape = known.shape;
      field.stride = known.stride;
      field.data = static_cast<std::byte*>(slot_->reserve(i, known.stride * static_cast<std::size_t>(layout.capacity)));
    } else {
      field.shapes.resize(samples);
    }
  }
}

void BatchJob::run(int64_t task, int worker) noexcept {
  if (task > first_failure_.load(std::memory_order_relaxed)) {
    return;  // an earlier sample speaks for the batch
  }
  Worker& own = workers_[static_cast<std::size_t>(worker)];
  const int64_t sample = request_.samples[static_cast<std::size_t>(task)];
  own.sample.store(sample, std::memory_order_relaxed);
  try {
    Place place(*this, task);
    stream_.run({sample, request_.epoch, request_.epochs, 0}, place, own.workspace);
  } catch (const DataError& error) {
    fail(task, error.code(), error.what(), error.node());
  } catch (const Error& error) {
    fail(task, error.code(), error.what());
  } catch (const std::exception& error) {
    fail(task, ErrorCode::kMemory, fmt::format("no memory for sample {}: {}", sample, error.what()));
  }
  own.sample.store(-1, std::memory_order_relaxed);
}

void* BatchJob::place(std::size_t task, std::size_t index, std::span<const int64_t> shape) {
  Field& field = fields_[index];
  if (layout_.fields[index].fixed) {
    return field.data + task * field.stride;
  }
  field.shapes[task].assign(shape.begin(), shape.end());
  const std::lock_guard lock(mutex_);
  if (field.data == nullptr) {
    const std::size_t stride = static_cast<std::size_t>(elements(shape)) * size_of(layout_.fields[index].dtype);
    field.data = static_cast<std::byte*>(slot_->reserve(index, stride * request_.samples.size()));
    field.stride = stride;
    field.shape.assign(shape.begin(), shape.end());
  }
  return std::equal(shape.begin(), shape.end(), field.shape.begin()) ? field.data + task * field.stride : nullptr;
}

void BatchJob::fail(int64_t task, ErrorCode code, std::string message, std::string node) {
  const std::lock_guard lock(mutex_);
  if (!failure_ || task < failure_->task) {
    failure_ = Failure{task, code, std::move(message), std::move(node)};
    first_failure_.store(task, std::memory_order_relaxed);
  }
}

// Every sample has gone through, so the one that is blamed is the same on any number of threads.
void BatchJob::check_shapes() const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::vector<Shape>& shapes = fields_[i].shapes;
    const auto other = std::find_if(shapes.begin(), shapes.end(), [&](const Shape& s) { return s != shapes.front(); });
    if (other == shapes.end()) {
      continue;
    }
    const auto text = [](const Shape& shape) { return to_string(std::vector<Dim>(shape.begin(), shape.end())); };
    const FieldSpec& field = layout_.spec[i];
    const bool maybe_text = may_be_text(field);
    throw DataError(
        ErrorCode::kData,
        fmt::format("field \"{}\" has different shapes within batch {} of epoch {} of \"{}\": sample {} has {}, "
                    "sample {}, the first of the batch, has {}; {}crop, resize or pad them to one shape",
                    field.name, request_.index, request_.epoch, stream_.dataset_node(),
                    request_.samples[static_cast<std::size_t>(other - shapes.begin())], text(*other),
                    request_.samples.front(), text(shapes.front()),
                    maybe_text ? "if it is text, put transform:encode_categories before the loader; if not, " : ""),
        "", field.name);
  }
}

Batch BatchJob::finish() {
  if (failure_) {
    throw DataError(failure_->code, failure_->message, failure_->node);
  }
  check_shapes();
  Batch batch;
  batch.samples = tasks();
  batch.epoch = request_.epoch;
  batch.index = request_.index;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    BatchField& field = batch.fields.emplace_back();
    field.name = layout_.spec[i].name;
    field.dtype = layout_.spec[i].dtype;
    field.shape.reserve(fields_[i].shape.size() + 1);
    field.shape.push_back(batch.samples);
    field.shape.insert(field.shape.end(), fields_[i].shape.begin(), fields_[i].shape.end());
    field.data = fields_[i].data;
  }
  batch.sample_ids = std::move(request_.samples);
  batch.memory = std::move(slot_);
  return batch;
}

}  // namespace tenon::engine
