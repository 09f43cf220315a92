// Draws with and without replacement, and the orders made of them.
#include <engine/data/sampler.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <engine/data/buckets.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

class UniformDraw final : public Draw {
 public:
  explicit UniformDraw(int64_t items) : items_(items) {}
  [[nodiscard]] int64_t sample(Rng& random) const noexcept override { return random.integer(0, items_ - 1); }

 private:
  int64_t items_;
};

/// In proportion to weights: the first item whose sum of weights up to itself is above a uniform number.
class WeightedDraw final : public Draw {
 public:
  explicit WeightedDraw(std::vector<double> weights) : sums_(std::move(weights)) {
    std::partial_sum(sums_.begin(), sums_.end(), sums_.begin());
    // The last item with a weight: rounding may take a number up to the total itself.
    last_ = std::lower_bound(sums_.begin(), sums_.end(), sums_.back()) - sums_.begin();
  }

  [[nodiscard]] int64_t sample(Rng& random) const noexcept override {
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), random.uniform() * sums_.back());
    return std::min<int64_t>(found - sums_.begin(), last_);
  }

 private:
  std::vector<double> sums_;
  int64_t last_;
};

/// A class, each as likely, then one of its items, each as likely.
class BalancedDraw final : public Draw {
 public:
  BalancedDraw(const std::vector<int32_t>& classes, const std::vector<int64_t>& counts) {
    begins_.reserve(counts.size() + 1);
    begins_.push_back(0);
    std::partial_sum(counts.begin(), counts.end(), std::back_inserter(begins_));
    items_.resize(static_cast<std::size_t>(begins_.back()));
    std::vector<int64_t> next(begins_.begin(), begins_.end() - 1);
    for (std::size_t item = 0; item < classes.size(); ++item) {
      if (classes[item] >= 0) {
        const int64_t place = next[static_cast<std::size_t>(classes[item])]++;
        items_[static_cast<std::size_t>(place)] = static_cast<int64_t>(item);
      }
    }
  }

  [[nodiscard]] int64_t sample(Rng& random) const noexcept override {
    const auto chosen = static_cast<std::size_t>(random.integer(0, static_cast<int64_t>(begins_.size()) - 2));
    return items_[static_cast<std::size_t>(random.integer(begins_[chosen], begins_[chosen + 1] - 1))];
  }

 private:
  std::vector<int64_t> begins_;  // of each class in items_, and the end
  std::vector<int64_t> items_;
};

[[noreturn]] void refuse(const OrderOptions& options, ErrorCode code, const std::string& what, std::string pointer) {
  throw Error(code, fmt::format("loader \"{}\": {}", options.node, what), std::move(pointer));
}

/// Items of each class.
std::vector<int64_t> count_classes(const std::vector<int32_t>& classes) {
  std::vector<int64_t> counts;
  for (const int32_t each : classes) {
    if (each < 0) {
      continue;
    }
    counts.resize(std::max(counts.size(), static_cast<std::size_t>(each) + 1));
    ++counts[static_cast<std::size_t>(each)];
  }
  return counts;
}

}  // namespace

Sampler::Sampler(OrderOptions options, OrderColumns columns) : options_(std::move(options)) {
  const std::vector<core::ParamFault> faults =
      core::order_faults(options_.shuffle, options_.sampler, options_.buckets, {{}, {}, true});
  if (!faults.empty()) {
    refuse(options_, ErrorCode::kConfig, faults.front().message, faults.front().pointer);
  }
  samples_ = options_.items;
  if (options_.sampler) {
    if (options_.items < 1) refuse(options_, ErrorCode::kData, "its dataset is empty: there is nothing to draw", "");
    const core::SamplerParams& sampler = *options_.sampler;
    samples_ = sampler.samples.value_or(options_.items);
    if (sampler.weights) {
      take_weights(std::move(columns.weights));
    } else if (sampler.balance) {
      take_classes(columns.classes);
    } else if (sampler.replaces()) {
      draw_ = std::make_shared<UniformDraw>(options_.items);
    } else {
      check_samples(options_.items);
    }
  }
  if (options_.buckets) {
    ranks_ = length_ranks(columns.lengths, options_.buckets->bounds);
  }
}

void Sampler::check_samples(int64_t drawable) const {
  if (samples_ > drawable) {
    refuse(options_, ErrorCode::kConfig,
           fmt::format("an epoch of {} samples without replacement, but there are {} to draw from", samples_, drawable),
           "/sampler/samples");
  }
}

void Sampler::take_weights(std::vector<double> weights) {
  const std::string& field = *options_.sampler->weights;
  int64_t drawable = 0;
  double sum = 0;
  for (std::size_t item = 0; item < weights.size(); ++item) {
    if (!(weights[item] >= 0) || !std::isfinite(weights[item])) {
      refuse(options_, ErrorCode::kData,
             fmt::format("item {} has {} in \"{}\": a weight is a finite number from 0 on", item, weights[item], field),
             "/sampler/weights");
    }
    drawable += weights[item] > 0 ? 1 : 0;
    sum += weights[item];
  }
  if (drawable == 0 || !std::isfinite(sum)) {
    refuse(options_, ErrorCode::kData,
           drawable == 0 ? fmt::format("all weights of \"{}\" are 0: there is nothing to draw", field)
                         : fmt::format("the weights of \"{}\" have no finite sum", field),
           "/sampler/weights");
  }
  if (options_.sampler->replaces()) {
    draw_ = std::make_shared<WeightedDraw>(std::move(weights));
    return;
  }
  check_samples(drawable);
  weights_ = std::move(weights);
}

void Sampler::take_classes(const std::vector<int32_t>& classes) {
  std::vector<int64_t> counts = count_classes(classes);
  const int64_t drawable = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  if (drawable == 0) {
    refuse(options_, ErrorCode::kData, fmt::format("no item has a class in \"{}\"", *options_.sampler->balance),
           "/sampler/balance");
  }
  if (options_.sampler->replaces()) {
    draw_ = std::make_shared<BalancedDraw>(classes, counts);
    return;
  }
  check_samples(drawable);
  weights_.reserve(classes.size());
  for (const int32_t each : classes) {
    weights_.push_back(each < 0 ? 0 : 1 / static_cast<double>(counts[static_cast<std::size_t>(each)]));
  }
}

// Efraimidis and Spirakis (Information Processing Letters 97, 2006): the n items with the least of -ln(u)/w are those that
// n draws without replacement give. Their order is by chance, so that heavy items do not come first.
std::vector<int64_t> Sampler::draw_without_replacement(uint64_t key) const {
  Rng random(random_key({key, name_key("weights")}));
  std::vector<double> keys;
  keys.reserve(weights_.size());
  for (const double weight : weights_) {
    const double uniform = random.uniform();
    keys.push_back(weight > 0 ? -std::log1p(-uniform) / weight : HUGE_VAL);
  }
  std::vector<double> sorted = keys;
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(samples_ - 1);
  std::nth_element(sorted.begin(), last, sorted.end());
  const double limit = *last;
  int64_t at_limit = 1 + std::count(sorted.begin(), last, limit);  // of equal keys the first ones are taken
  std::vector<int64_t> chosen;
  chosen.reserve(static_cast<std::size_t>(samples_));
  for (std::size_t item = 0; item < keys.size(); ++item) {
    if (keys[item] < limit || (keys[item] == limit && at_limit-- > 0)) {
      chosen.push_back(static_cast<int64_t>(item));
    }
  }
  shuffle_samples(chosen, key);
  return chosen;
}

EpochOrder Sampler::epoch(int64_t epoch) const {
  const uint64_t key = order_key(options_.seed, options_.node, epoch);
  if (draw_ != nullptr && ranks_.empty()) {
    return {samples_, draw_, key};
  }
  const bool plain = draw_ == nullptr && weights_.empty();
  if (plain && ranks_.empty() && (samples_ == options_.items || !options_.shuffle)) {
    return {samples_, options_.shuffle, options_.seed, options_.node, epoch};
  }
  std::vector<int64_t> order;
  if (!weights_.empty()) {
    order = draw_without_replacement(key);
  } else if (draw_ != nullptr) {
    const EpochOrder drawn(samples_, draw_, key);
    order.reserve(static_cast<std::size_t>(samples_));
    for (int64_t position = 0; position < samples_; ++position) {
      order.push_back(drawn[position]);
    }
  } else {
    order.resize(static_cast<std::size_t>(options_.items));
    std::iota(order.begin(), order.end(), int64_t{0});
    if (options_.shuffle) {
      shuffle_samples(order, key);
    }
    order.resize(static_cast<std::size_t>(samples_));
  }
  if (!ranks_.empty()) {
    const bool by_chance = options_.shuffle || !plain;
    const std::optional<uint64_t> batches =
        by_chance ? std::optional(random_key({key, name_key("buckets")})) : std::nullopt;
    sort_into_buckets(order, ranks_, options_.batch, options_.buckets->pool, batches);
  }
  return {std::move(order), draw_ != nullptr, key};
}

}  // namespace tenon::engine
