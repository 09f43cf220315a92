// Takes columns from the dataset's index, and reads by threads what that does not know.
#include <engine/data/scan.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/text/suggest.hpp>
#include <engine/data/hanging.hpp>
#include <engine/data/kept_sample.hpp>
#include <engine/data/task_pool.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};

/// A field to be read, and what becomes of each item's value; null for one that cannot be read. Any thread.
struct Wanted {
  std::size_t field = 0;
  std::function<void(int64_t item, const Value* value)> take;
};

double number_in(const Value& value, Dtype dtype) {
  const auto as = [&](auto number) {
    std::memcpy(&number, value.data, sizeof number);
    return static_cast<double>(number);
  };
  switch (dtype) {
    case Dtype::kBool:
    case Dtype::kUint8: return as(uint8_t{});
    case Dtype::kInt8: return as(int8_t{});
    case Dtype::kInt16: return as(int16_t{});
    case Dtype::kInt32: return as(int32_t{});
    case Dtype::kInt64: return as(int64_t{});
    case Dtype::kFloat32: return as(float{});
    case Dtype::kFloat64: return as(double{});
    case Dtype::kFloat16:
    case Dtype::kBfloat16: break;  // order_faults refuses them
  }
  return NAN;
}

/// Numbers for values, in the order in which they are first seen.
template <class Key>
class Classes {
 public:
  int32_t number_of(const Key& key) {
    return numbers_.try_emplace(key, static_cast<int32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<Key, int32_t> numbers_;
};

/// What is read and what it is brought into: shared with threads, which may outlive the call.
struct Reading {
  Reading(const Stream& stream, const ScanOptions& scan) : dataset(stream), tolerate(scan.tolerate), keep(scan.keep) {}

  const Stream& dataset;
  bool tolerate;
  std::shared_ptr<const void> keep;
  OrderColumns columns;
  std::vector<Wanted> wanted;
  std::mutex mutex;  // guards seen
  Classes<std::string> seen;
};

/// Reads all items, each a task.
class Scan final : public Job {
 public:
  Scan(std::shared_ptr<const Reading> reading, int workers)
      : reading_(std::move(reading)), items_(reading_->dataset.size()), first_failure_(items_) {
    for (int i = 0; i < workers; ++i) readers_.emplace_back(reading_->dataset.fields());
  }

  [[nodiscard]] int64_t tasks() const noexcept override { return items_; }

  void run(int64_t item, int worker) noexcept override {
    if (item >= first_failure_.load(std::memory_order_relaxed)) return;
    Reader& reader = readers_[static_cast<std::size_t>(worker)];
    reader.item.store(item, std::memory_order_relaxed);
    read(item, reader);
  }

  /// The item that a worker is on, or was on last.
  [[nodiscard]] int64_t item_of(int worker) const noexcept {
    return readers_[static_cast<std::size_t>(worker)].item.load(std::memory_order_relaxed);
  }

  /// After all tasks. \throws DataError
  [[nodiscard]] int64_t unreadable() const {
    if (failure_) std::rethrow_exception(failure_);
    return unreadable_.load();
  }

 private:
  struct Reader {
    explicit Reader(const Spec& fields) : sample(fields) {}
    KeptSample sample;
    Workspace workspace;
    std::atomic<int64_t> item{-1};
  };

  void read(int64_t item, Reader& reader) noexcept {
    try {
      reading_->dataset.run({item, 0, 1, 0}, reader.sample, reader.workspace);
      for (const Wanted& each : reading_->wanted) each.take(item, &reader.sample.values()[each.field]);
    } catch (const DataError& error) {
      if (!reading_->tolerate || error.code() != ErrorCode::kData) return fail(item);
      unreadable_.fetch_add(1, std::memory_order_relaxed);
      for (const Wanted& each : reading_->wanted) each.take(item, nullptr);
    } catch (...) {
      fail(item);
    }
  }

  void fail(int64_t item) {
    const std::lock_guard lock(mutex_);
    if (item >= first_failure_.load(std::memory_order_relaxed)) return;
    first_failure_.store(item, std::memory_order_relaxed);
    failure_ = std::current_exception();
  }

  std::shared_ptr<const Reading> reading_;
  int64_t items_;
  std::deque<Reader> readers_;
  std::atomic<int64_t> first_failure_;
  std::atomic<int64_t> unreadable_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// Fills the columns: from the index what it knows, the rest in one go through all items.
class ColumnReader {
 public:
  ColumnReader(const Stream& dataset, const Columns* index, const OrderOptions& options, const ScanOptions& scan)
      : dataset_(dataset),
        index_(index),
        options_(options),
        scan_(scan),
        reading_(std::make_shared<Reading>(dataset, scan)),
        columns_(reading_->columns) {}

  OrderColumns read() {
    if (options_.sampler && options_.sampler->weights) take_weights(*options_.sampler->weights);
    if (options_.sampler && options_.sampler->balance) take_classes(*options_.sampler->balance);
    if (options_.buckets) take_lengths(options_.buckets->field);
    if (!reading_->wanted.empty()) scan_all();
    number_by_first();
    return std::move(columns_);
  }

 private:
  template <class T>
  void check_size(const std::vector<T>& column, const std::string& field) const {
    if (static_cast<int64_t>(column.size()) == dataset_.size()) return;
    throw Error(ErrorCode::kPlugin, fmt::format("\"{}\": its index has {} values of \"{}\", but it has {} items",
                                                dataset_.dataset_node(), column.size(), field, dataset_.size()));
  }

  std::size_t want(const std::string& field) {
    names_.push_back(core::quoted(field));
    return static_cast<std::size_t>(index_of(dataset_.fields(), field));
  }

  [[nodiscard]] std::size_t items() const { return static_cast<std::size_t>(dataset_.size()); }

  void take_weights(const std::string& name) {
    if (index_ != nullptr) {
      if (std::optional<std::vector<double>> known = index_->column(name)) {
        check_size(*known, name);
        columns_.weights = *std::move(known);
        return;
      }
    }
    const std::size_t field = want(name);
    const Dtype dtype = dataset_.fields()[field].dtype;
    columns_.weights.resize(items());
    reading_->wanted.push_back({field, [to = reading_.get(), dtype](int64_t item, const Value* value) {
                                  to->columns.weights[static_cast<std::size_t>(item)] =
                                      value == nullptr ? 0 : number_in(*value, dtype);
                                }});
  }

  void take_classes(const std::string& name) {
    columns_.classes.resize(items());
    if (index_ != nullptr) {
      if (const std::optional<std::vector<double>> known = index_->column(name)) {
        check_size(*known, name);
        Classes<double> classes;
        for (std::size_t item = 0; item < known->size(); ++item) {
          if (std::isnan((*known)[item])) {
            throw Error(ErrorCode::kData,
                        fmt::format("item {} of \"{}\" has no class in \"{}\"", item, dataset_.dataset_node(), name),
                        "/sampler/balance");
          }
          columns_.classes[item] = classes.number_of((*known)[item]);
        }
        return;
      }
    }
    const std::size_t field = want(name);
    const std::size_t element = size_of(dataset_.fields()[field].dtype);
    reading_->wanted.push_back({field, [to = reading_.get(), element](int64_t item, const Value* value) {
                                  int32_t number = -1;
                                  if (value != nullptr) {
                                    const std::size_t bytes =
                                        static_cast<std::size_t>(elements(value->shape)) * element;
                                    const std::string key(static_cast<const char*>(value->data), bytes);
                                    const std::lock_guard lock(to->mutex);
                                    number = to->seen.number_of(key);
                                  }
                                  to->columns.classes[static_cast<std::size_t>(item)] = number;
                                }});
  }

  void take_lengths(const std::string& name) {
    if (index_ != nullptr) {
      if (std::optional<std::vector<int64_t>> known = index_->lengths(name)) {
        check_size(*known, name);
        columns_.lengths = *std::move(known);
        return;
      }
    }
    columns_.lengths.resize(items());
    reading_->wanted.push_back({want(name), [to = reading_.get()](int64_t item, const Value* value) {
                                  to->columns.lengths[static_cast<std::size_t>(item)] =
                                      value == nullptr ? 0 : value->shape[0];
                                }});
  }

  void scan_all() {
    const auto begin = std::chrono::steady_clock::now();
    const int threads = std::max(scan_.threads, 1);
    TaskPool pool({threads, threads, scan_.on_thread_start, scan_.keep == nullptr ? nullptr : reading_});
    const auto job = std::make_shared<Scan>(reading_, pool.workers());
    pool.submit(job);
    try {
      while (!pool.wait(kPollInterval)) {
        if (scan_.poll) scan_.poll();
        require_progress(pool, *job);
      }
      (void)pool.take();
    } catch (...) {
      pool.end();
      if (pool.abandoned() && scan_.give_up) scan_.give_up();
      throw;
    }
    const int64_t unreadable = job->unreadable();
    if (!scan_.remark) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    scan_.remark(
        fmt::format("loader \"{}\" read all {} samples of \"{}\" once for {}, which its index does not know "
                    "({:.1f} s{})",
                    options_.node, dataset_.size(), dataset_.dataset_node(), fmt::join(names_, " and "),
                    seconds.count(), unreadable == 0 ? "" : fmt::format("; {} of them cannot be read", unreadable)));
  }

  void require_progress(TaskPool& pool, const Scan& job) const {
    if (scan_.sample_timeout <= std::chrono::nanoseconds::zero()) return;
    const std::optional<int> worker = pool.overdue(scan_.sample_timeout);
    if (worker) throw hanging_error(dataset_, job.item_of(*worker), pool.call_of(*worker), scan_.sample_timeout);
  }

  /// The numbers that threads gave out as they came become those of the items' order.
  void number_by_first() {
    Classes<int32_t> classes;
    for (int32_t& each : columns_.classes) {
      if (each >= 0) each = classes.number_of(each);
    }
  }

  const Stream& dataset_;
  const Columns* index_;
  const OrderOptions& options_;
  const ScanOptions& scan_;
  std::shared_ptr<Reading> reading_;
  OrderColumns& columns_;           // of reading_
  std::vector<std::string> names_;  // of the fields that are read
};

}  // namespace

OrderColumns order_columns(const Stream& dataset, const Columns* index, const OrderOptions& options,
                           const ScanOptions& scan) {
  const std::vector<core::ParamFault> faults =
      core::order_faults(options.shuffle, options.sampler, options.buckets, {dataset.fields(), {}, false});
  if (!faults.empty()) {
    throw Error(ErrorCode::kConfig, fmt::format("loader \"{}\": {}", options.node, faults.front().message),
                faults.front().pointer);
  }
  return ColumnReader(dataset, index, options, scan).read();
}

}  // namespace tenon::engine
