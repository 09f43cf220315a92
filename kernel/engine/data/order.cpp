// Batches, ranks' parts, and orders.
#include <engine/data/order.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

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

uint64_t order_key(uint64_t seed, std::string_view node, int64_t epoch) noexcept {
  return random_key({seed, name_key(node), static_cast<uint64_t>(epoch)});
}

void shuffle_samples(std::vector<int64_t>& samples, uint64_t key) noexcept {
  Rng random(key);
  for (std::size_t left = samples.size(); left > 1; --left) {
    const int64_t chosen = random.integer(0, static_cast<int64_t>(left) - 1);
    std::swap(samples[left - 1], samples[static_cast<std::size_t>(chosen)]);
  }
}

EpochOrder::EpochOrder(int64_t items, bool shuffle, uint64_t seed, std::string_view node, int64_t epoch)
    : size_(items), repeats_(false), key_(order_key(seed, node, epoch)) {
  if (!shuffle) {
    return;
  }
  listed_.resize(static_cast<std::size_t>(items));
  std::iota(listed_.begin(), listed_.end(), int64_t{0});
  shuffle_samples(listed_, key_);
}

EpochOrder::EpochOrder(int64_t samples, std::shared_ptr<const Draw> draw, uint64_t key)
    : draw_(std::move(draw)), size_(samples), repeats_(true), key_(key) {}

EpochOrder::EpochOrder(std::vector<int64_t> samples, bool repeats, uint64_t key)
    : listed_(std::move(samples)), size_(static_cast<int64_t>(listed_.size())), repeats_(repeats), key_(key) {}

int64_t EpochOrder::drawn(int64_t position) const noexcept {
  Rng random(key_, static_cast<uint64_t>(position));
  return draw_->sample(random);
}

int64_t EpochOrder::substitute(int64_t position, int attempt) const noexcept {
  Rng random(random_key({key_, name_key("substitute"), static_cast<uint64_t>(attempt)}),
             static_cast<uint64_t>(position));
  return (*this)[random.integer(0, size_ - 1)];
}

}  // namespace tenon::engine
