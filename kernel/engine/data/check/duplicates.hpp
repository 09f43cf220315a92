// Samples with the same content, found by their hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::engine {

/// Two samples with one content: indices in their datasets.
struct SamePair {
  int64_t index = 0;  ///< Of the one that is told of.
  int64_t first = 0;  ///< Of the first sample that has the same content.

  friend bool operator==(const SamePair&, const SamePair&) = default;
};

/// How many samples have a twin, and some of them by ascending index.
struct SameSamples {
  int64_t count = 0;
  std::vector<SamePair> examples;
};

/// The samples of a part as survey() gives them: indices and hashes side by side, 0 for none.
struct HashedSamples {
  std::span<const int64_t> samples;
  std::span<const uint64_t> hashes;
};

/// Samples of `part` that a sample before them equals.
[[nodiscard]] SameSamples repeated(const HashedSamples& part, std::size_t examples);

/// Samples of `part` that some sample of `other` equals.
[[nodiscard]] SameSamples shared(const HashedSamples& part, const HashedSamples& other, std::size_t examples);

}  // namespace tenon::engine
