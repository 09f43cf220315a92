// Batches, ranks' parts and the keyed shuffle.
#include <engine/data/order.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <tenon/random.hpp>

namespace tenon::engine {

int64_t BatchPlan::batches() const noexcept {
  const int64_t all = items / batch + (last == LastBatch::kKeep && items % batch != 0 ? 1 : 0);
  return std::min(all, limit.value_or(all));
}

Slice BatchPlan::whole(int64_t index) const noexcept {
  const int64_t begin = index * batch;
  return {begin, begin + std::min(batch, items - begin)};
}

Slice BatchPlan::slice(int64_t index) const noexcept {
  const Slice all = whole(index);
  // Part r of R is [len·r/R, len·(r+1)/R), written so that no product can overflow.
  const auto border = [&](int64_t part) {
    return all.begin + all.size() / world * part + all.size() % world * part / world;
  };
  return {border(rank), border(rank + 1)};
}

int64_t BatchPlan::capacity() const noexcept {
  const int64_t most = std::min(batch, items);
  return most / world + (most % world != 0 ? 1 : 0);
}

EpochOrder::EpochOrder(int64_t items, bool shuffle, uint64_t seed, std::string_view node, int64_t epoch) {
  if (!shuffle) {
    return;
  }
  shuffled_.resize(static_cast<std::size_t>(items));
  std::iota(shuffled_.begin(), shuffled_.end(), int64_t{0});
  Rng random(random_key({seed, name_key(node), static_cast<uint64_t>(epoch)}));
  for (int64_t left = items - 1; left > 0; --left) {
    const int64_t chosen = random.integer(0, left);
    std::swap(shuffled_[static_cast<std::size_t>(left)], shuffled_[static_cast<std::size_t>(chosen)]);
  }
}

}  // namespace tenon::engine
