// Threads take runs of items by a counter, and wait for their turn to hand them on.
#include <cache/fill.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include <selection/try_read.hpp>

namespace tenon::datasets {
namespace {

constexpr int64_t kRun = 16;

/// Records of some items, one behind the other.
struct RecordRun {
  int64_t first = 0;               // item of the first record
  std::vector<std::size_t> sizes;  // of the records
  std::vector<std::string> whys;   // what is wrong with the items
  std::vector<std::byte> bytes;
};

class Filler {
 public:
  Filler(const Dataset& input, const RecordLayout& layout, const TakeRecord& take)
      : input_(input), layout_(layout), take_(take) {}

  void work() {
    SampleBytes sample(input_.spec());
    while (true) {
      const int64_t number = next_.fetch_add(1);
      if (number * kRun >= input_.size()) return;
      RecordRun run;
      std::exception_ptr error;
      try {
        read(number * kRun, sample, run);
      } catch (...) {
        error = std::current_exception();
      }
      if (!hand_on(number, run, error)) return;
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void read(int64_t first, SampleBytes& sample, RecordRun& run) const {
    run.first = first;
    const int64_t end = std::min(first + kRun, input_.size());
    for (int64_t item = first; item < end; ++item) {
      const std::size_t before = run.bytes.size();
      run.whys.push_back(append_record(input_, layout_, item, sample, run.bytes).value_or(std::string()));
      run.sizes.push_back(run.bytes.size() - before);
    }
  }

  /// False when there is no use in going on.
  bool hand_on(int64_t number, const RecordRun& run, std::exception_ptr error) {
    std::unique_lock lock(mutex_);
    turn_changed_.wait(lock, [&] { return turn_ == number || error_; });
    if (error_) return false;
    try {
      if (!error) take(run);
    } catch (...) {
      error = std::current_exception();
    }
    error_ = error;
    ++turn_;
    turn_changed_.notify_all();
    return !error_;
  }

  void take(const RecordRun& run) const {
    std::span<const std::byte> rest(run.bytes);
    for (std::size_t i = 0; i < run.sizes.size(); ++i) {
      take_(run.first + static_cast<int64_t>(i), rest.first(run.sizes[i]), run.whys[i]);
      rest = rest.subspan(run.sizes[i]);
    }
  }

  const Dataset& input_;
  const RecordLayout& layout_;
  const TakeRecord& take_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable turn_changed_;
  int64_t turn_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::optional<std::string> append_record(const Dataset& input, const RecordLayout& layout, int64_t item,
                                         SampleBytes& sample, std::vector<std::byte>& to) {
  std::optional<std::string> why = try_read(input, item, sample);
  if (!why) layout.append(sample, to);
  return why;
}

void read_all(const Dataset& input, const RecordLayout& layout, int64_t threads, const TakeRecord& take) {
  Filler filler(input, layout, take);
  {
    std::vector<std::jthread> helpers;
    const int64_t runs = (input.size() + kRun - 1) / kRun;
    for (int64_t i = 1; i < std::min(threads, runs); ++i) helpers.emplace_back([&] { filler.work(); });
    filler.work();
  }
  filler.rethrow();
}

}  // namespace tenon::datasets
