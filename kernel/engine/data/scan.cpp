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
#include <engine/data/kept_sample.hpp>
#include <engine/data/task_pool.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

constexpr int64_t kChunk = 32;
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

/// Reads all items, a chunk a task.
class Scan final : public Job {
 public:
  Scan(const Stream& dataset, const std::vector<Wanted>& wanted, bool tolerate, int workers)
      : dataset_(dataset), wanted_(wanted), tolerate_(tolerate), items_(dataset.size()), first_failure_(items_) {
    for (int i = 0; i < workers; ++i) readers_.emplace_back(dataset.fields());
  }

  [[nodiscard]] int64_t tasks() const noexcept override { return (items_ + kChunk - 1) / kChunk; }

  void run(int64_t task, int worker) noexcept override {
    const int64_t end = std::min(items_, (task + 1) * kChunk);
    for (int64_t item = task * kChunk; item < end && item < first_failure_.load(std::memory_order_relaxed); ++item) {
      read(item, readers_[static_cast<std::size_t>(worker)]);
    }
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
  };

  void read(int64_t item, Reader& reader) noexcept {
    try {
      dataset_.run({item, 0, 1, 0}, reader.sample, reader.workspace);
      for (const Wanted& each : wanted_) each.take(item, &reader.sample.values()[each.field]);
    } catch (const DataError& error) {
      if (!tolerate_ || error.code() != ErrorCode::kData) return fail(item);
      unreadable_.fetch_add(1, std::memory_order_relaxed);
      for (const Wanted& each : wanted_) each.take(item, nullptr);
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

  const Stream& dataset_;
  const std::vector<Wanted>& wanted_;
  bool tolerate_;
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
      : dataset_(dataset), index_(index), options_(options), scan_(scan) {}

  OrderColumns read() {
    if (options_.sampler && options_.sampler->weights) take_weights(*options_.sampler->weights);
    if (options_.sampler && options_.sampler->balance) take_classes(*options_.sampler->balance);
    if (options_.buckets) take_lengths(options_.buckets->field);
    if (!wanted_.empty()) scan_all();
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
    wanted_.push_back({field, [this, dtype](int64_t item, const Value* value) {
                         columns_.weights[static_cast<std::size_t>(item)] =
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
    wanted_.push_back({field, [this, element](int64_t item, const Value* value) {
                         int32_t number = -1;
                         if (value != nullptr) {
                           const std::size_t bytes = static_cast<std::size_t>(elements(value->shape)) * element;
                           const std::string key(static_cast<const char*>(value->data), bytes);
                           const std::lock_guard lock(mutex_);
                           number = seen_.number_of(key);
                         }
                         columns_.classes[static_cast<std::size_t>(item)] = number;
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
    wanted_.push_back({want(name), [this](int64_t item, const Value* value) {
                         columns_.lengths[static_cast<std::size_t>(item)] = value == nullptr ? 0 : value->shape[0];
                       }});
  }

  void scan_all() {
    const auto begin = std::chrono::steady_clock::now();
    TaskPool pool(std::max(scan_.threads, 1), scan_.on_thread_start);  // one at least, so that somebody can poll
    const auto job = std::make_shared<Scan>(dataset_, wanted_, scan_.tolerate, pool.workers());
    pool.submit(job);
    while (!pool.wait(kPollInterval)) {
      if (scan_.poll) scan_.poll();
    }
    (void)pool.take();
    const int64_t unreadable = job->unreadable();
    if (!scan_.remark) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    scan_.remark(
        fmt::format("loader \"{}\" read all {} samples of \"{}\" once for {}, which its index does not know "
                    "({:.1f} s{})",
                    options_.node, dataset_.size(), dataset_.dataset_node(), fmt::join(names_, " and "),
                    seconds.count(), unreadable == 0 ? "" : fmt::format("; {} of them cannot be read", unreadable)));
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
  OrderColumns columns_;
  std::vector<Wanted> wanted_;
  std::vector<std::string> names_;  // of the fields that are read
  std::mutex mutex_;                // guards seen_
  Classes<std::string> seen_;
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
