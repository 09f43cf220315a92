// Pairs of numbers as parameters: from the least to the largest.
#pragma once

#include <string>
#include <vector>

#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::image_transforms {

/// Bounds of how much longer one side of a part of an image is than the other.
inline constexpr double kLeastRatio = 0.001;
inline constexpr double kLargestRatio = 1000;

struct Range {
  double low = 0;
  double high = 0;

  [[nodiscard]] double draw(Rng& random) const noexcept { return random.uniform(low, high); }
};

/// Two numbers in order. \throws Error (kConfig) for another count, or when the first is the larger one.
[[nodiscard]] inline Range range_of(const std::vector<double>& pair, const std::string& pointer) {
  if (pair.size() != 2) throw Error(ErrorCode::kConfig, "give two numbers, the least and the largest", pointer);
  if (pair[0] > pair[1]) throw Error(ErrorCode::kConfig, "the least must not be larger than the largest", pointer);
  return {pair[0], pair[1]};
}

/// One number d stands for −d to d. \throws Error (kConfig) as range_of, and for one that is negative.
[[nodiscard]] inline Range around_zero(const std::vector<double>& numbers, const std::string& pointer) {
  if (numbers.size() != 1) return range_of(numbers, pointer);
  if (numbers[0] < 0)
    throw Error(ErrorCode::kConfig, "one number is the largest distance from 0: not negative", pointer);
  return {-numbers[0], numbers[0]};
}

/// A range that is narrowed towards `neutral`, where nothing changes: all of it for a share of 1.
[[nodiscard]] inline Range narrowed(const Range& range, double neutral, double share) noexcept {
  return {neutral + (range.low - neutral) * share, neutral + (range.high - neutral) * share};
}

}  // namespace tenon::image_transforms
