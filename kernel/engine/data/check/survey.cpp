// Chunks of samples as jobs of a pool; their findings are joined in the order of the samples.
#include <engine/data/check/survey.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <utility>

#include <core/storage/sha256.hpp>
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
};

/// By type, shape and bytes of the fields, none of which can be taken for a part of another.
uint64_t hash_of(std::span<const Value> values, const Spec& fields, const std::vector<std::size_t>& hashed) {
  core::Sha256 hash;
  for (const std::size_t field : hashed) {
    const Value& value = values[field];
    const auto rank = static_cast<int64_t>(value.shape.size());
    hash.update(std::as_bytes(std::span(&rank, 1)));
    hash.update(std::as_bytes(value.shape));
    hash.update({static_cast<const std::byte*>(value.data),
                 static_cast<std::size_t>(elements(value.shape)) * size_of(fields[field].dtype)});
  }
  const std::string digits = hash.digest();
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + 16, number, 16);
  return std::max<uint64_t>(number, 1);
}

class ChunkJob final : public Job {
 public:
  ChunkJob(const SurveyRequest& request, std::deque<Way>& ways, const std::vector<Spec>& fields,
           std::span<const int64_t> samples)
      : request_(request), ways_(ways), fields_(fields), samples_(samples), points(empty_surveys(request, fields)) {}

  [[nodiscard]] int64_t tasks() const noexcept override { return 1; }

  void run(int64_t /*task*/, int worker) noexcept override {
    try {
      for (const int64_t index : samples_) look_at(index, ways_[static_cast<std::size_t>(worker)]);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  /// What ended the chunk early, if something did.
  void require() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void look_at(int64_t index, Way& way) {
    hashes.push_back(0);
    try {
      for (std::size_t point = 0; point < points.size(); ++point) {
        const std::span<const Value> values = way.go(point, index);
        for (std::size_t i = 0; i < values.size(); ++i) points[point][i].see(values[i], index);
        if (point == 0) hashes.back() = hash_of(values, fields_.front(), request_.hashed);
      }
    } catch (const DataError& error) {
      failed.push_back({index, error.node(), error.what()});
    }
  }

  const SurveyRequest& request_;
  std::deque<Way>& ways_;
  const std::vector<Spec>& fields_;
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

}  // namespace

Survey survey(const SurveyRequest& request) {
  Survey found;
  std::deque<Way> ways;
  const int threads = std::max(request.threads, 1);
  for (int i = 0; i <= threads; ++i) ways.emplace_back(request);  // one more: the pool counts its caller
  const std::vector<Spec> fields = ways.front().fields();
  found.size = Stream(request.dataset, {}, request.seed).size();
  found.samples = chosen(found.size, request.most);
  found.points = empty_surveys(request, fields);
  found.hashes.reserve(found.samples.size());

  const auto total = static_cast<int64_t>(found.samples.size());
  const int64_t ahead = int64_t{4} * threads;
  TaskPool pool({.threads = threads, .most = threads});
  int64_t begun = 0;
  const auto tell = [&] {
    if (request.progress) request.progress(static_cast<int64_t>(found.hashes.size()), total);
  };
  tell();
  while (begun < total || pool.pending() > 0) {
    while (begun < total && pool.pending() < ahead) {
      const int64_t count = std::min(kChunk, total - begun);
      const std::span<const int64_t> samples(found.samples.data() + begun, static_cast<std::size_t>(count));
      pool.submit(std::make_shared<ChunkJob>(request, ways, fields, samples));
      begun += count;
    }
    while (!pool.wait(kTick)) tell();
    const std::shared_ptr<Job> job = pool.take();
    auto& chunk = static_cast<ChunkJob&>(*job);
    chunk.require();
    join(found, chunk);
    tell();
  }
  return found;
}

}  // namespace tenon::engine
