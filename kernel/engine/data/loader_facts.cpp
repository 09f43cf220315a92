// Numbers of a loader for people.
#include <engine/data/loader_facts.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tenon::engine {
namespace {

constexpr double kBottleneck = 0.15;  // share of the time of training
constexpr double kLeastSeconds = 1;   // of training, before there is anything to say
constexpr int64_t kLeastBatches = 20;
constexpr double kWaitsForStorage = 0.5;  // share of a sample on a core, below which it mostly waits

double share(double part, double whole) noexcept { return whole > 0 ? part / whole : 0; }

std::string threads_text(int count) { return count == 1 ? "1 thread" : fmt::format("{} threads", count); }
std::string cores_text(int count) { return count == 1 ? "1 core" : fmt::format("{} cores", count); }
int percent(double part, double whole) {
  return static_cast<int>(std::lround(100 * std::min(share(part, whole), 1.0)));
}

std::string duration_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string rate_text(double samples_per_second) {
  return samples_per_second < 100 ? fmt::format("{:.3g} samples/s", samples_per_second)
                                  : fmt::format("{:.0f} samples/s", samples_per_second);
}

std::string size_text(int64_t bytes) {
  if (bytes < int64_t{1} << 20) return fmt::format("{:.3g} KiB", static_cast<double>(bytes) / 0x1p10);
  return bytes < int64_t{1} << 30 ? fmt::format("{:.3g} MiB", static_cast<double>(bytes) / 0x1p20)
                                  : fmt::format("{:.3g} GiB", static_cast<double>(bytes) / 0x1p30);
}

double sample_seconds(const LoaderFacts& facts) { return share(facts.wall, static_cast<double>(facts.samples)); }

// What limits the loader, then what would help.
std::string cause_of(const LoaderFacts& facts) {
  const std::string sample = duration_text(sample_seconds(facts));
  if (facts.workers == 0) {
    return fmt::format("samples are made between the steps, {} each; \"workers\": {} makes them ahead", sample,
                       facts.automatic ? "1" : "\"auto\"");
  }
  if (facts.ahead < facts.prefetch && facts.batch_bytes > 0) {
    return fmt::format(
        "memory allows {} of {} batches ahead, at {} each; more \"memory\", or a smaller batch, would help",
        facts.ahead, facts.prefetch, size_text(facts.batch_bytes));
  }
  const int busy = percent(facts.cpu, facts.wall);
  if (share(facts.cpu, facts.wall) < kWaitsForStorage) {
    return fmt::format(
        "a sample takes {}, of which it waits {} % for storage or other machines; {}, a dataset:cache or faster "
        "storage would help",
        sample, 100 - busy, facts.automatic ? "larger or fewer files" : "more \"workers\"");
  }
  if (facts.workers < facts.cores && !facts.automatic) {
    return fmt::format("{} on {} cannot make more than {}, {} each; more \"workers\", or \"auto\", would help",
                       threads_text(facts.workers), cores_text(facts.cores), rate_text(facts.samples_per_second()),
                       sample);
  }
  return fmt::format(
      "a sample takes {}, {} % of it on a core, and {} cannot make more than {}; a dataset:cache of decoded samples, "
      "smaller images, fewer transforms or more cores would help",
      sample, busy, cores_text(std::min(facts.workers, facts.cores)),
      rate_text(share(std::min(facts.workers, facts.cores), sample_seconds(facts))));
}

}  // namespace

double LoaderFacts::samples_per_second() const noexcept {
  return share(static_cast<double>(samples) * std::max(workers, 1), wall);
}

std::string describe_start(const LoaderFacts& facts) {
  if (!facts.automatic && facts.workers == 0) {
    return fmt::format("loader \"{}\": no threads, each batch is made when training asks for it", facts.node);
  }
  return fmt::format("loader \"{}\": {}, at most {} or {} ahead", facts.node,
                     facts.automatic ? "as many threads as help" : threads_text(facts.workers),
                     facts.prefetch == 1 ? "1 batch" : fmt::format("{} batches", facts.prefetch),
                     size_text(facts.memory));
}

std::string describe_choice(const LoaderFacts& facts) {
  const std::string sample = duration_text(sample_seconds(facts));
  if (facts.workers == 0) {
    return fmt::format("loader \"{}\": no threads, since a sample takes no more than {}", facts.node, sample);
  }
  return fmt::format("loader \"{}\": {} chosen for {}; a sample takes {}, {} % of it on a core", facts.node,
                     threads_text(facts.workers), cores_text(facts.cores), sample, percent(facts.cpu, facts.wall));
}

std::optional<std::string> describe_bottleneck(const LoaderFacts& facts, double seconds, double waited) {
  if (seconds < kLeastSeconds || facts.batches < kLeastBatches || share(waited, seconds) < kBottleneck) {
    return std::nullopt;
  }
  return fmt::format("training waited for loader \"{}\" {} % of the time: {}", facts.node, percent(waited, seconds),
                     cause_of(facts));
}

}  // namespace tenon::engine
