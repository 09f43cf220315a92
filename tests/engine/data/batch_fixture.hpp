// Makes batches by jobs, without a loader.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <engine/data/batch_job.hpp>
#include <engine/data/fakes.hpp>

namespace tenon::engine::fakes {

/// Makes batches one after the other, on threads or on the caller's (0), in slots that are used again.
class BatchMaker {
 public:
  BatchMaker(const Stream& stream, const BatchLayout& layout, int threads)
      : stream_(stream),
        layout_(layout),
        slots_(std::make_shared<SlotPool>(layout.outputs.size(), host_memory)),
        workers_(static_cast<std::size_t>(threads) + 1),
        pool_(threads) {}

  Batch make(BatchJob::Request request) {
    pool_.submit(std::make_shared<BatchJob>(stream_, layout_, workers_, slots_->acquire(), std::move(request)));
    return static_cast<BatchJob&>(*pool_.take()).finish();
  }

  Batch make_of(std::vector<int64_t> samples) {
    BatchJob::Request request;
    request.samples = std::move(samples);
    return make(std::move(request));
  }

 private:
  const Stream& stream_;
  const BatchLayout& layout_;
  std::shared_ptr<SlotPool> slots_;
  std::deque<Worker> workers_;
  TaskPool pool_;  // last: its threads end before what they use
};

inline BatchLayout layout_of(const Stream& stream, int64_t capacity, CollateOptions options = {}) {
  return {stream.fields(), capacity, std::move(options)};
}

inline core::PadParams pad(std::string field) {
  core::PadParams params;
  params.field = std::move(field);
  return params;
}

/// A field's elements.
template <class T>
std::vector<T> values(const Batch& batch, std::string_view name) {
  for (const BatchField& field : batch.fields) {
    if (field.name == name) {
      const std::span<T> all = Array{field.data, field.dtype, field.shape}.template as<T>();
      return {all.begin(), all.end()};
    }
  }
  ADD_FAILURE() << "no field " << name;
  return {};
}

inline Shape shape_of(const Batch& batch, std::string_view name) {
  for (const BatchField& field : batch.fields) {
    if (field.name == name) {
      return field.shape;
    }
  }
  ADD_FAILURE() << "no field " << name;
  return {};
}

}  // namespace tenon::engine::fakes
