// Sorts pools of batches by length, then shuffles the batches.
#include <engine/data/buckets.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include <tenon/random.hpp>

namespace tenon::engine {
namespace {

constexpr int64_t kMaxRank = std::numeric_limits<uint32_t>::max();

void sort_pool(std::span<int64_t> pool, std::span<const uint32_t> ranks, std::vector<uint64_t>& keys,
               std::vector<int64_t>& sorted) {
  // Rank and position in one number: they differ all, so that the order is one on every machine.
  keys.resize(pool.size());
  for (std::size_t i = 0; i < pool.size(); ++i) {
    keys[i] = uint64_t{ranks[static_cast<std::size_t>(pool[i])]} << 32U | i;
  }
  std::sort(keys.begin(), keys.end());
  sorted.resize(pool.size());
  std::transform(keys.begin(), keys.end(), sorted.begin(), [&](uint64_t key) { return pool[key & 0xffffffffU]; });
  std::copy(sorted.begin(), sorted.end(), pool.begin());
}

void shuffle_batches(std::span<int64_t> order, std::size_t batch, uint64_t key) {
  Rng random(key);
  for (std::size_t left = order.size() / batch; left > 1; --left) {
    const auto chosen = static_cast<std::size_t>(random.integer(0, static_cast<int64_t>(left) - 1));
    if (chosen == left - 1) {
      continue;
    }
    const std::span<int64_t> last = order.subspan((left - 1) * batch, batch);
    std::swap_ranges(last.begin(), last.end(), order.begin() + static_cast<std::ptrdiff_t>(chosen * batch));
  }
}

}  // namespace

std::vector<uint32_t> length_ranks(std::span<const int64_t> lengths, std::span<const int64_t> bounds) {
  std::vector<uint32_t> ranks;
  ranks.reserve(lengths.size());
  for (const int64_t length : lengths) {
    const int64_t rank = bounds.empty() ? std::clamp<int64_t>(length, 0, kMaxRank)
                                        : std::upper_bound(bounds.begin(), bounds.end(), length) - bounds.begin();
    ranks.push_back(static_cast<uint32_t>(rank));
  }
  return ranks;
}

void sort_into_buckets(std::vector<int64_t>& order, std::span<const uint32_t> ranks, int64_t batch, int64_t pool,
                       std::optional<uint64_t> key) {
  const auto samples = static_cast<int64_t>(order.size());
  const std::span<int64_t> whole = std::span(order).first(static_cast<std::size_t>(samples / batch * batch));
  if (whole.empty()) {
    return;
  }
  // At most kMaxRank samples, whose positions take 32 bits.
  const int64_t batches = std::clamp<int64_t>(std::min(samples, kMaxRank) / batch, 1, pool);
  const auto size = static_cast<std::size_t>(batches * batch);
  std::vector<uint64_t> keys;
  std::vector<int64_t> sorted;
  for (std::size_t begin = 0; begin < whole.size(); begin += size) {
    sort_pool(whole.subspan(begin, std::min(size, whole.size() - begin)), ranks, keys, sorted);
  }
  if (key) {
    shuffle_batches(whole, static_cast<std::size_t>(batch), *key);
  }
}

}  // namespace tenon::engine
