// Chunks of samples as jobs of a pool; their findings are joined in the order of the samples.
#include <engine/data/check/survey.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <core/storage/sha256.hpp>
#include <engine/data/hanging.hpp>
#include <engine/data/kept_sample.hpp>
#include <engine/data/task_pool.hpp>
#include <tenon/random.hpp>

namespace tenon::engine {
namespace {

constexpr int64_t kChunk = 32;  // samples: part of the result, since sums depend on where they are cut
constexpr std::chrono::milliseconds kTick{100};

std::vector<std::vector<FieldSurvey>> empty_surveys(const SurveyRequest& request, const std::vector<Spec>& fields) {
  std::vector<std::vector<FieldSurvey>> points;
  for (std::size_t i = 0; i < request.points.size(); ++i) {
    std::vector<FieldSurvey>& point = points.emplace_back();
    for (std::size_t field = 0; field < fields[i].size(); ++field) {
      point.emplace_back(fields[i][field], request.points[i].fields[field]);
    }
  }
  return points;
}

/// One thread's way from the dataset to the last point: a stream from each point to the next.
class Way {
 public:
  explicit Way(const SurveyRequest& request) {
    std::size_t done = 0;
    for (const SurveyPoint& point : request.points) {
      DatasetNode from = request.dataset;
      if (!legs_.empty()) from.dataset = legs_.back().next.get();
      const auto begin = request.transforms.begin();
      legs_.emplace_back(std::move(from),
                         std::vector<TransformNode>(begin + static_cast<std::ptrdiff_t>(done),
                                                    begin + static_cast<std::ptrdiff_t>(point.transforms)),
                         request.seed);
      done = point.transforms;
    }
  }

  /// A sample begins, or none is under way: -1.
  void begin(int64_t index) noexcept {
    sample_.store(index, std::memory_order_relaxed);
    turn_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Another number for each sample, and the sample. [any thread]
  [[nodiscard]] int64_t turn() const noexcept { return turn_.load(std::memory_order_relaxed); }
  [[nodiscard]] int64_t sample() const noexcept { return sample_.load(std::memory_order_relaxed); }

  /// From the dataset to the first point.
  [[nodiscard]] const Stream& stream() const noexcept { return legs_.front().stream; }

  /// Brings the sample that lies at the point before to this one. \throws DataError
  std::span<const Value> go(std::size_t point, int64_t index) {
    Leg& leg = legs_[point];
    leg.stream.run({.index = index}, *leg.sample, leg.workspace);
    return leg.sample->values();
  }

  [[nodiscard]] std::vector<Spec> fields() const {
    std::vector<Spec> all;
    for (const Leg& leg : legs_) all.push_back(leg.stream.fields());
    return all;
  }

 private:
  struct Leg {
    Leg(DatasetNode dataset, std::vector<TransformNode> transforms, uint64_t seed)
        : stream(std::move(dataset), std::move(transforms), seed),
          sample(std::make_unique<KeptSample>(stream.fields())),
          next(std::make_unique<KeptDataset>(*sample)) {}

    Stream stream;
    Workspace workspace;
    std::unique_ptr<KeptSample> sample;
    std::unique_ptr<KeptDataset> next;
  };
  std::deque<Leg> legs_;
  std::atomic<int64_t> turn_{0};
  std::atomic<int64_t> sample_{-1};
};

/// Finds the way that has been on one sample for too long. Between two looks no more than a second counts, so that a
/// process that was stopped meanwhile has not been slow.
class Watch {
 public:
  explicit Watch(std::chrono::nanoseconds limit) : limit_(limit) {}

  [[nodiscard]] std::optional<std::size_t> overdue(const std::deque<Way>& ways) {
    if (limit_ <= std::chrono::nanoseconds::zero()) return std::nullopt;
    const Clock::time_point now = Clock::now();
    watching_ += std::min<std::chrono::nanoseconds>(now - std::exchange(looked_, now), std::chrono::seconds(1));
    seen_.resize(ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const int64_t turn = ways[i].turn();
      if (turn != seen_[i].turn) {
        seen_[i] = {turn, watching_};
      } else if (ways[i].sample() >= 0 && watching_ - seen_[i].since >= limit_) {
        return i;
      }
    }
    return std::nullopt;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    int64_t turn = 0;
    std::chrono::nanoseconds since{0};
  };

  std::chrono::nanoseconds limit_;
  std::vector<Seen> seen_;
  std::chrono::nanoseconds watching_{0};
  Clock::time_point looked_ = Clock::now();
};

/// By type, shape and bytes of the fields, none of which can be taken for a part of another.
uint64_t hash_of(std::span<const Value> values, const Spec& fields, const std::vector<std::size_t>& hashed) {
  core::Sha256 hash;
  for (const std::size_t field : hashed) {
    const Value& value = values[field];
    const auto rank = static_cast<int64_t>(value.shape.size());
    const Dtype dtype = fields[field].dtype;
    hash.update(std::as_bytes(std::span(&dtype, 1)));
    hash.update(std::as_bytes(std::span(&rank, 1)));
    hash.update(std::as_bytes(value.shape));
    hash.update(
        {static_cast<const std::byte*>(value.data), static_cast<std::size_t>(elements(value.shape)) * size_of(dtype)});
  }
  const std::string digits = hash.digest();
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + 16, number, 16);
  return std::max<uint64_t>(number, 1);
}

/// What threads use, also those that are given up.
struct Work {
  explicit Work(SurveyRequest wanted) : request(std::move(wanted)) {
    const int threads = std::max(request.threads, 1);
    for (int i = 0; i <= threads; ++i) ways.emplace_back(request);  // one more: the pool counts its caller
    fields = ways.front().fields();
  }

  SurveyRequest request;
  std::deque<Way> ways;
  std::vector<Spec> fields;
  std::vector<int64_t> samples;
};

class ChunkJob final : public Job {
 public:
  ChunkJob(std::shared_ptr<Work> work, std::span<const int64_t> samples)
      : work_(std::move(work)), samples_(samples), points(empty_surveys(work_->request, work_->fields)) {}

  [[nodiscard]] int64_t tasks() const noexcept override { return 1; }

  void run(int64_t /*task*/, int worker) noexcept override {
    Way& way = work_->ways[static_cast<std::size_t>(worker)];
    try {
      for (const int64_t index : samples_) look_at(index, way);
    } catch (...) {
      error_ = std::current_exception();
    }
    way.begin(-1);
  }

  /// What ended the chunk early, if something did.
  void require() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void look_at(int64_t index, Way& way) {
    way.begin(index);
    hashes.push_back(0);
    try {
      for (std::size_t point = 0; point < points.size(); ++point) {
        const std::span<const Value> values = way.go(point, index);
        for (std::size_t i = 0; i < values.size(); ++i) points[point][i].see(values[i], index);
        if (point == 0) hashes.back() = hash_of(values, work_->fields.front(), work_->request.hashed);
      }
    } catch (const DataError& error) {
      if (error.code() != ErrorCode::kData) throw;  // no fault of the sample's, as for a run
      failed.push_back({index, error.node(), error.what()});
    }
  }

  std::shared_ptr<Work> work_;
  std::span<const int64_t> samples_;
  std::exception_ptr error_;

 public:
  std::vector<std::vector<FieldSurvey>> points;
  std::vector<FailedSample> failed;
  std::vector<uint64_t> hashes;
};

void join(Survey& found, ChunkJob& chunk) {
  for (std::size_t point = 0; point < found.points.size(); ++point) {
    for (std::size_t i = 0; i < found.points[point].size(); ++i) found.points[point][i].join(chunk.points[point][i]);
  }
  std::move(chunk.failed.begin(), chunk.failed.end(), std::back_inserter(found.failed));
  found.hashes.insert(found.hashes.end(), chunk.hashes.begin(), chunk.hashes.end());
}

/// At most `most` of them, one from anywhere in each of as many stretches of equal length, so that an order that
/// repeats does not come through; all where that is 0.
std::vector<int64_t> chosen(int64_t size, int64_t most) {
  const int64_t count = most > 0 ? std::min(most, size) : size;
  std::vector<int64_t> samples(static_cast<std::size_t>(count));
  const auto begin = [&](int64_t i) { return i * (size / count) + i * (size % count) / count; };
  for (int64_t i = 0; i < count; ++i) {
    const auto length = static_cast<uint64_t>(begin(i + 1) - begin(i));
    const uint64_t within = random_key({static_cast<uint64_t>(i)}) % length;
    samples[static_cast<std::size_t>(i)] = begin(i) + static_cast<int64_t>(within);
  }
  return samples;
}

/// The index and the hash of a sample, and as much again while samples are compared.
constexpr double kBytesOfSample = 32;

/// \throws DataError (kMemory) where `count` of the samples are more than the machine has memory for.
void require_memory(const Stream& dataset, int64_t count, int64_t size) {
  const double needed = static_cast<double>(count) * kBytesOfSample;
  const double there = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (there <= 0 || needed <= there) return;
  constexpr double kGiB = 0x1p30;
  throw DataError(
      ErrorCode::kMemory,
      fmt::format("\"{}\" has {} samples, and to compare {} of them takes {:.0f} GiB of memory, {:.0f} bytes "
                  "for each, where this machine has {:.1f} GiB: look at fewer of them, with --samples",
                  dataset.dataset_node(), size, count == size ? std::string("all") : std::to_string(count),
                  needed / kGiB, kBytesOfSample, there / kGiB),
      dataset.dataset_node());
}

/// Reads chunks on threads and joins what they found.
class Surveyor {
 public:
  explicit Surveyor(const SurveyRequest& request)
      : work_(std::make_shared<Work>(request)), request_(work_->request), watch_(request.sample_timeout) {
    const Stream dataset(request.dataset, {}, request.seed);
    found_.size = dataset.size();
    require_memory(dataset, request.most > 0 ? std::min(request.most, found_.size) : found_.size, found_.size);
    work_->samples = chosen(found_.size, request.most);
    found_.points = empty_surveys(request, work_->fields);
    found_.hashes.reserve(work_->samples.size());
  }

  Survey run() {
    const int threads = std::max(request_.threads, 1);
    TaskPool pool({threads, threads, request_.on_thread_start, request_.give_up ? work_ : nullptr});
    try {
      read_all(pool, int64_t{4} * threads);
    } catch (...) {
      pool.end();
      if (pool.abandoned()) request_.give_up();
      throw;
    }
    found_.samples = std::move(work_->samples);
    return std::move(found_);
  }

 private:
  void read_all(TaskPool& pool, int64_t ahead) {
    const auto total = static_cast<int64_t>(work_->samples.size());
    int64_t begun = 0;
    tell(total);
    while (begun < total || pool.pending() > 0) {
      while (begun < total && pool.pending() < ahead) {
        const int64_t count = std::min(kChunk, total - begun);
        const std::span<const int64_t> samples(work_->samples.data() + begun, static_cast<std::size_t>(count));
        pool.submit(std::make_shared<ChunkJob>(work_, samples));
        begun += count;
      }
      while (!pool.wait(kTick)) {
        tell(total);
        require_progress(pool);
      }
      const std::shared_ptr<Job> job = pool.take();
      auto& chunk = static_cast<ChunkJob&>(*job);
      chunk.require();
      join(found_, chunk);
      tell(total);
    }
  }

  void tell(int64_t total) const {
    if (request_.progress) request_.progress(static_cast<int64_t>(found_.hashes.size()), total);
  }

  void require_progress(const TaskPool& pool) {
    const std::optional<std::size_t> worker = watch_.overdue(work_->ways);
    if (!worker) return;
    const Way& way = work_->ways[*worker];
    throw hanging_error(way.stream(), way.sample(), pool.call_of(static_cast<int>(*worker)), request_.sample_timeout);
  }

  std::shared_ptr<Work> work_;
  const SurveyRequest& request_;  // of work_
  Watch watch_;
  Survey found_;
};

}  // namespace

Survey survey(const SurveyRequest& request) { return Surveyor(request).run(); }

}  // namespace tenon::engine
