// Which part of a split each sample belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::datasets {

/// Shares of train, val and test; their sum is 1.
using Shares = std::array<double, 3>;

/// The part, 0 to 2, of one keyed hash: a sample of its own, whatever others there are.
[[nodiscard]] int part_of(uint64_t hash, const Shares& shares) noexcept;

/// How many of `count` samples each part gets: rounded down, and the rest to the largest remainders; among equal ones
/// `tie`, a hash, decides.
[[nodiscard]] std::array<int64_t, 3> counts_of(int64_t count, const Shares& shares, uint64_t tie) noexcept;

/// A sample of a stratified split.
struct Stratum {
  uint64_t hash = 0;   ///< Of the sample, keyed.
  uint64_t label = 0;  ///< Equal for samples of one class.
};

/// The part of each sample: within each class, in the order of the hashes, as many as counts_of() says. Samples of equal
/// hashes stay together, for which the border between two parts moves to their nearer end.
[[nodiscard]] std::vector<int8_t> stratified(std::span<const Stratum> samples, const Shares& shares);

}  // namespace tenon::datasets
