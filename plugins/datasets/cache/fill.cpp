// Threads take runs of items by a counter, and wait for their turn to hand them on.
#include <cache/fill.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

constexpr int64_t kRun = 16;

class Filler {
 public:
  Filler(const Dataset& input, const RecordLayout& layout, const std::function<void(const RecordRun&)>& take)
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
      try {
        input_.read(item, sample);
      } catch (const Error& error) {
        throw Error(error.code(), "sample " + std::to_string(item) + " of the input: " + error.what());
      }
      const std::size_t before = run.bytes.size();
      layout_.append(sample, run.bytes);
      run.sizes.push_back(run.bytes.size() - before);
    }
  }

  /// False when there is no use in going on.
  bool hand_on(int64_t number, const RecordRun& run, std::exception_ptr error) {
    std::unique_lock lock(mutex_);
    turn_changed_.wait(lock, [&] { return turn_ == number || error_; });
    if (error_) return false;
    try {
      if (!error) take_(run);
    } catch (...) {
      error = std::current_exception();
    }
    error_ = error;
    ++turn_;
    turn_changed_.notify_all();
    return !error_;
  }

  const Dataset& input_;
  const RecordLayout& layout_;
  const std::function<void(const RecordRun&)>& take_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable turn_changed_;
  int64_t turn_ = 0;
  std::exception_ptr error_;
};

}  // namespace

void read_all(const Dataset& input, const RecordLayout& layout, int64_t threads,
              const std::function<void(const RecordRun&)>& take) {
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
