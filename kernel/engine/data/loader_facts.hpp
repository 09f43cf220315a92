// What a loader does and what it measured, as numbers and in words.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tenon::engine {

/// As far as measured since the loader was made.
struct LoaderFacts {
  std::string node;
  bool automatic = false;
  bool settled = false;  ///< The number of threads was chosen by the pipeline, or by what was measured.
  int workers = 0;       ///< Threads at present; 0: the trainer makes the batches.
  int cores = 1;         ///< That this process may use.
  int64_t prefetch = 0;
  int64_t memory = 0;       ///< Bytes that the batches made ahead take at most.
  int64_t ahead = 0;        ///< Batches that may be made ahead: `prefetch`, or fewer for want of memory.
  int64_t batch_bytes = 0;  ///< Of the largest batch so far; 0: none was made.
  int64_t batches = 0;      ///< Delivered.
  int64_t samples = 0;      ///< Made.
  double wall = 0;          ///< Seconds that making them took, over all threads.
  double cpu = 0;           ///< Of those, on a core; 0 without threads.

  /// Samples a second that so many threads can give, as long as there are cores for them; 0 when none was made.
  [[nodiscard]] double samples_per_second() const noexcept;
};

/// What the pipeline asks for, before the first batch: "loader "train": 2 threads, at most 4 batches or 1 GiB ahead".
[[nodiscard]] std::string describe_start(const LoaderFacts& facts);

/// "loader "train": 2 threads, chosen for 2 cores: a sample takes 1.4 ms, 97 % of that on a core".
[[nodiscard]] std::string describe_choice(const LoaderFacts& facts);

/// A sentence on what held training up and what would help, from these numbers alone; nothing where the loader was not
/// what training waited for. `seconds` of training, of which `waited` for data.
[[nodiscard]] std::optional<std::string> describe_bottleneck(const LoaderFacts& facts, double seconds, double waited);

}  // namespace tenon::engine
