// Sorted hashes, 16 bytes a sample while they are compared.
#include <engine/data/check/duplicates.hpp>

#include <algorithm>
#include <utility>

namespace tenon::engine {
namespace {

using Entry = std::pair<uint64_t, int64_t>;  // hash, index

std::vector<Entry> sorted(const HashedSamples& part) {
  std::vector<Entry> entries;
  entries.reserve(part.samples.size());
  for (std::size_t i = 0; i < part.hashes.size(); ++i) {
    if (part.hashes[i] != 0) entries.emplace_back(part.hashes[i], part.samples[i]);
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

SameSamples summary(std::vector<SamePair> pairs, std::size_t examples) {
  SameSamples same{static_cast<int64_t>(pairs.size()), {}};
  const std::size_t count = std::min(examples, pairs.size());
  std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(count), pairs.end(),
                    [](const SamePair& a, const SamePair& b) { return a.index < b.index; });
  pairs.resize(count);
  same.examples = std::move(pairs);
  return same;
}

}  // namespace

SameSamples repeated(const HashedSamples& part, std::size_t examples) {
  const std::vector<Entry> entries = sorted(part);
  std::vector<SamePair> pairs;
  std::size_t first = 0;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].first != entries[first].first) {
      first = i;
    } else {
      pairs.push_back({entries[i].second, entries[first].second});
    }
  }
  return summary(std::move(pairs), examples);
}

SameSamples shared(const HashedSamples& part, const HashedSamples& other, std::size_t examples) {
  const std::vector<Entry> own = sorted(part);
  const std::vector<Entry> theirs = sorted(other);
  std::vector<SamePair> pairs;
  auto at = theirs.begin();
  for (const auto& [hash, index] : own) {
    while (at != theirs.end() && at->first < hash) ++at;
    if (at == theirs.end()) break;
    if (at->first == hash) pairs.push_back({index, at->second});
  }
  return summary(std::move(pairs), examples);
}

}  // namespace tenon::engine
