// What "workers": "auto" gives against the best fixed number of threads, what a batch costs to hand over, and how long the
// first batch and the turn of an epoch take; with samples that spin, sleep or do both for a fixed time.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <engine/data/loader.hpp>
#include <engine/data/machine.hpp>
#include <engine/data/stream.hpp>
#include <tenon/components/dataset.hpp>

namespace tenon::engine {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Keeps a core busy for as long on that core, whatever else runs beside it.
void spin(microseconds time) {
  timespec begin{};
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1'000'000'000 + now.tv_nsec - begin.tv_nsec < time.count() * 1000);
}

void spend(microseconds asleep, microseconds busy) {
  if (asleep.count() > 0) std::this_thread::sleep_for(asleep);
  if (busy.count() > 0) spin(busy);
}

class Costly final : public Dataset {
 public:
  Costly(int64_t items, microseconds asleep, microseconds busy) : items_(items), asleep_(asleep), busy_(busy) {}
  [[nodiscard]] Spec spec() const override { return {{"x", Dtype::kFloat32, {64}}}; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return items_; }
  [[nodiscard]] std::string fingerprint() const override { return "costly"; }
  void read(int64_t index, Sample& out) const override {
    spend(asleep_, busy_);
    const Shape shape{64};
    std::ranges::fill(out.allocate(0, Dtype::kFloat32, shape).as<float>(), static_cast<float>(index));
  }

 private:
  int64_t items_;
  microseconds asleep_;
  microseconds busy_;
};

LoaderOptions options(std::optional<int> workers, int64_t batch) {
  LoaderOptions options;
  options.node = "train";
  options.batch = batch;
  options.shuffle = true;
  options.automatic = !workers;
  options.workers = workers.value_or(0);
  return options;
}

struct Case {
  const char* name;
  microseconds asleep;  // of a sample
  microseconds busy;
  microseconds consumer_asleep;  // of a step
  microseconds consumer_busy;
};

/// Batches of a loader, with the consumer's work between.
class Run {
 public:
  Run(const Case& each, std::optional<int> workers)
      : case_(each),
        dataset_(1'000'000, each.asleep, each.busy),
        stream_({"set", "dataset:costly", &dataset_}, {}, 7),
        loader_(stream_, options(workers, 16)) {
    loader_.start(0, 0, 1000);
  }

  /// Batches a second over at least so long.
  double rate(double seconds) {
    const Clock::time_point begin = Clock::now();
    int64_t batches = 0;
    double elapsed = 0;
    do {
      batches += loader_.next() ? 1 : 0;
      spend(case_.consumer_asleep, case_.consumer_busy);
      elapsed = seconds_since(begin);
    } while (elapsed < seconds);
    return static_cast<double>(batches) / elapsed;
  }

  [[nodiscard]] int threads() const { return loader_.facts().workers; }

 private:
  const Case& case_;
  Costly dataset_;
  Stream stream_;
  Loader loader_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(const Case& each) {
  constexpr int kRounds = 3;
  const int cores = usable_cores();
  std::vector<int> settings{0, 1, cores, 2 * cores, 4 * cores, 16, 32};
  std::sort(settings.begin(), settings.end());
  settings.erase(std::unique(settings.begin(), settings.end()), settings.end());
  std::vector<std::vector<double>> rates(settings.size() + 1);
  std::vector<std::unique_ptr<Run>> runs;
  runs.reserve(settings.size() + 1);
  // One loader at a time works: the others' threads have made what is allowed, and sleep.
  for (const int workers : settings) runs.push_back(std::make_unique<Run>(each, workers));
  runs.push_back(std::make_unique<Run>(each, std::nullopt));
  const double all = runs.back()->rate(2.5);  // climbs
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      (void)runs[i]->rate(0.02);
      rates[i].push_back(runs[i]->rate(0.3));
    }
  }
  double best = 0;
  int best_setting = 0;
  double worst_of_many = 1e9;
  std::string table;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const double rate = median(rates[i]);
    table += fmt::format(" {}:{:.0f}", settings[i], rate);
    if (rate > best) {
      best = rate;
      best_setting = settings[i];
    }
    if (settings[i] >= cores) worst_of_many = std::min(worst_of_many, rate);
  }
  const double chosen = median(rates.back());
  fmt::print(
      "{:<34} auto {:.3f} of the best ({} threads against {}), climbing {:.3f}; T >= cores at worst {:.3f}; "
      "batches/s{} auto:{:.0f}\n",
      each.name, chosen / best, runs.back()->threads(), best_setting, all / best, worst_of_many / best, table, chosen);
}

/// Time in next() where the batch is ready, and with threads that cannot keep up.
void hand_off() {
  for (const int64_t batch : {16, 256}) {
    for (const std::optional<int> workers :
         {std::optional(0), std::optional(1), std::optional(2), std::optional<int>()}) {
      const Costly dataset(1'000'000, microseconds(0), microseconds(0));
      const Stream stream({"set", "dataset:costly", &dataset}, {}, 7);
      Loader loader(stream, options(workers, batch));
      loader.start(0, 0, 1000);
      std::vector<double> times;
      for (int i = 0; i < 2000; ++i) {
        const Clock::time_point begin = Clock::now();
        (void)loader.next();
        times.push_back(seconds_since(begin) * 1e6);
        spin(microseconds(150));
      }
      std::sort(times.begin(), times.end());
      fmt::print("hand-off, batch {:>3}, {:>4}: median {:.1f} us, 90 % {:.1f} us, 99 % {:.1f} us\n", batch,
                 workers ? fmt::format("{}", *workers) : "auto", times[1000], times[1800], times[1980]);
    }
  }
}

/// The longest next() about the end of an epoch, for an order of 1.3 million samples.
void epoch_turn() {
  for (const std::optional<int> workers : {std::optional(0), std::optional(2), std::optional<int>()}) {
    const Costly dataset(1'300'000, microseconds(0), microseconds(0));
    const Stream stream({"set", "dataset:costly", &dataset}, {}, 7);
    Loader loader(stream, options(workers, 512));
    const Clock::time_point begin = Clock::now();
    loader.start(0, 0, 4);
    (void)loader.next();
    const double first = seconds_since(begin) * 1e3;
    double turn = 0;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      for (int64_t left = loader.batches() - (epoch == 0 ? 1 : 0); left > 0; --left) {
        const Clock::time_point before = Clock::now();
        (void)loader.next();
        if (epoch > 0 && left > loader.batches() - 3) turn = std::max(turn, seconds_since(before) * 1e3);
        spin(microseconds(100));
      }
      const Clock::time_point before = Clock::now();
      (void)loader.next();
      turn = std::max(turn, seconds_since(before) * 1e3);
    }
    fmt::print("epoch of 1.3 million, {:>4}: turn {:.3f} ms at most, start to first batch {:.1f} ms\n",
               workers ? fmt::format("{}", *workers) : "auto", turn, first);
  }
}

/// The first batch against what its samples take on all cores.
void first_batch() {
  for (const std::optional<int> workers : {std::optional(usable_cores()), std::optional<int>()}) {
    std::vector<double> ratios;
    for (int i = 0; i < 7; ++i) {
      const Costly dataset(10'000, microseconds(0), microseconds(1000));
      const Stream stream({"set", "dataset:costly", &dataset}, {}, 7);
      const Clock::time_point begin = Clock::now();
      Loader loader(stream, options(workers, 64));
      loader.start(0, 0, 1);
      (void)loader.next();
      ratios.push_back(seconds_since(begin) / (64e-3 / usable_cores()));
    }
    fmt::print("first batch, {:>4}: {:.2f} times its samples' time on {} cores\n",
               workers ? fmt::format("{}", *workers) : "auto", median(ratios), usable_cores());
  }
}

constexpr Case kCases[] = {
    {"spin 1 ms, consumer none", {}, microseconds(1000), {}, {}},
    {"spin 100 us, consumer none", {}, microseconds(100), {}, {}},
    {"spin 5 us, consumer none", {}, microseconds(5), {}, {}},
    {"spin 1 us, consumer none", {}, microseconds(1), {}, {}},
    {"spin 1 us, consumer spins 0.5 ms", {}, microseconds(1), {}, microseconds(500)},
    {"spin 10 us, consumer spins 0.3 ms", {}, microseconds(10), {}, microseconds(300)},
    {"spin 0.5 ms, consumer spins 10 ms", {}, microseconds(500), {}, microseconds(10000)},
    {"spin 1 ms, consumer spins 10 ms", {}, microseconds(1000), {}, microseconds(10000)},
    {"spin 1 ms, consumer sleeps 10 ms", {}, microseconds(1000), microseconds(10000), {}},
    {"sleep 2 ms, consumer none", microseconds(2000), {}, {}, {}},
    {"sleep 2 ms, consumer sleeps 10 ms", microseconds(2000), {}, microseconds(10000), {}},
    {"sleep 2 ms, consumer spins 4 ms", microseconds(2000), {}, {}, microseconds(4000)},
    {"sleep 1 ms + spin 0.2, consumer none", microseconds(1000), microseconds(200), {}, {}},
    {"sleep 1 ms + spin 0.2, spins 3 ms", microseconds(1000), microseconds(200), {}, microseconds(3000)},
};

int bench(std::string_view row) {
  const auto wanted = [&](std::string_view name) { return row.empty() || name.find(row) != std::string_view::npos; };
  if (wanted("hand-off")) hand_off();
  if (wanted("first")) first_batch();
  if (wanted("turn")) epoch_turn();
  for (const Case& each : kCases) {
    if (wanted(each.name)) compare(each);
  }
  return 0;
}

}  // namespace
}  // namespace tenon::engine

int main(int count, char** arguments) { return tenon::engine::bench(count > 1 ? arguments[1] : ""); }
