// Loops over a loader.
#include <reading.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include <clocks.hpp>

namespace tenon::bench {
namespace {

/// Looks at each image, as whoever takes a batch does.
uint64_t touch(const engine::Batch& batch) {
  const engine::BatchField& field = batch.fields.front();
  const std::size_t bytes = Array{field.data, field.dtype, field.shape}.bytes();
  const std::size_t each = bytes / static_cast<std::size_t>(std::max<int64_t>(batch.samples, 1));
  uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes; at += each) sum += static_cast<const uint8_t*>(field.data)[at];
  return sum;
}

uint64_t hash(const engine::Batch& batch) {
  uint64_t found = 14695981039346656037ULL;
  for (const engine::BatchField& field : batch.fields) {
    const auto* const data = static_cast<const uint8_t*>(field.data);
    const std::size_t bytes = Array{field.data, field.dtype, field.shape}.bytes();
    for (std::size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, data + at, std::min(bytes - at, sizeof word));
      found = (found ^ word) * 1099511628211ULL;
    }
  }
  return found;
}

}  // namespace

Json read_epoch(engine::Loader& loader, int64_t epoch, double taking) {
  const double cpu = processor_seconds();
  const double begin = now();
  double first = -1;
  int64_t samples = 0;
  uint64_t touched = 0;
  std::vector<int64_t> ids;
  loader.start(epoch, 0, epoch + 1);
  while (const std::optional<engine::Batch> batch = loader.next()) {
    if (first < 0) first = now() - begin;
    samples += batch->samples;
    touched += touch(*batch);
    ids.insert(ids.end(), batch->sample_ids.begin(), batch->sample_ids.end());
    if (taking > 0) spin(taking);
  }
  const double wall = now() - begin;
  return {{"samples", samples}, {"wall", wall}, {"cpu", processor_seconds() - cpu}, {"first", first},
          {"touched", touched}, {"ids", ids},   {"threads", loader.facts().workers}};
}

Json read_turns(engine::Loader& loader, int64_t epochs, double pause) {
  std::vector<double> turns;
  std::vector<double> others;
  loader.start(0, 0, epochs);
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (int64_t batch = 0;; ++batch) {
      const double begin = now();
      const std::optional<engine::Batch> taken = loader.next();
      if (!taken) break;
      const double waited = (now() - begin) * 1e3;
      if (batch > 0) {
        others.push_back(waited);
      } else if (epoch > 0) {
        turns.push_back(waited);
      }
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(pause));
    }
  }
  std::sort(others.begin(), others.end());
  return {{"turns", turns}, {"others", others.empty() ? 0 : others[others.size() / 2]}};
}

Json read_from(engine::Loader& loader, int64_t epoch, int64_t batch, double begin) {
  double first = -1;
  std::vector<uint64_t> hashes;
  loader.start(epoch, batch, epoch + 1);
  while (const std::optional<engine::Batch> taken = loader.next()) {
    if (first < 0) first = now() - begin;
    hashes.push_back(hash(*taken));
  }
  return {{"first", first}, {"hashes", hashes}};
}

Json read_memory(engine::Loader& loader, int64_t epochs) {
  std::vector<double> megabytes;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    (void)read_epoch(loader, epoch);
    megabytes.push_back(resident_megabytes());
  }
  return {{"megabytes", megabytes}};
}

}  // namespace tenon::bench
