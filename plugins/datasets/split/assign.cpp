// Hashes to parts.
#include <split/assign.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include <tenon/random.hpp>

namespace tenon::datasets {
namespace {

/// Moves a border out of a run of samples that have one hash.
std::size_t outside_run(std::span<const std::size_t> order, std::span<const Stratum> samples, std::size_t border) {
  if (border == 0 || border >= order.size()) return border;
  const auto hash = [&](std::size_t at) { return samples[order[at]].hash; };
  const uint64_t within = hash(border);
  std::size_t begin = border;
  while (begin > 0 && hash(begin - 1) == within) --begin;
  std::size_t end = border;
  while (end < order.size() && hash(end) == within) ++end;
  if (begin == border) return border;
  return border - begin < end - border ? begin : end;
}

}  // namespace

int part_of(uint64_t hash, const Shares& shares) noexcept {
  const double place = static_cast<double>(hash >> 11U) * 0x1.0p-53;
  if (place < shares[0]) return 0;
  // Rounding of the sum must not send a sample to a part that gets none.
  if (place < shares[0] + shares[1] || shares[2] <= 0) return shares[1] > 0 ? 1 : 0;
  return 2;
}

std::array<int64_t, 3> counts_of(int64_t count, const Shares& shares, uint64_t tie) noexcept {
  constexpr double kRounding = 1e-9;
  std::array<int64_t, 3> counts{};
  std::array<std::tuple<double, uint64_t, std::size_t>, 3> remainders;
  for (std::size_t part = 0; part < 3; ++part) {
    const double wanted = static_cast<double>(count) * shares[part];
    counts[part] = static_cast<int64_t>(std::floor(wanted + kRounding));
    const double remainder = std::max(0.0, wanted - static_cast<double>(counts[part]));
    remainders[part] = {-std::round(remainder / kRounding), random_key({tie, part}), part};
  }
  std::sort(remainders.begin(), remainders.end());
  int64_t left = count - std::accumulate(counts.begin(), counts.end(), int64_t{0});
  for (std::size_t i = 0; left > 0; ++i, --left) ++counts[std::get<2>(remainders[i % 3])];
  return counts;
}

std::vector<int8_t> stratified(std::span<const Stratum> samples, const Shares& shares) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(samples[a].label, samples[a].hash, a) < std::tie(samples[b].label, samples[b].hash, b);
  });
  std::vector<int8_t> parts(samples.size());
  for (std::size_t begin = 0; begin < order.size();) {
    const uint64_t label = samples[order[begin]].label;
    std::size_t end = begin;
    while (end < order.size() && samples[order[end]].label == label) ++end;
    const std::span<const std::size_t> members = std::span(order).subspan(begin, end - begin);
    const std::array<int64_t, 3> counts = counts_of(static_cast<int64_t>(members.size()), shares, label);
    const auto train = static_cast<std::size_t>(counts[0]);
    const std::size_t val_begin = outside_run(members, samples, train);
    const std::size_t test_begin = outside_run(members, samples, train + static_cast<std::size_t>(counts[1]));
    for (std::size_t i = 0; i < members.size(); ++i) {
      parts[members[i]] = static_cast<int8_t>(i < val_begin ? 0 : i < test_begin ? 1 : 2);
    }
    begin = end;
  }
  return parts;
}

}  // namespace tenon::datasets
