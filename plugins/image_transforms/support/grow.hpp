// Strength of augmentation that grows with the epoch.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tenon/components/transform.hpp>
#include <tenon/params.hpp>

namespace tenon::image_transforms {

/// 0 in epoch 0, 1 from epoch `grow` on, and linear between; 1 throughout without growth.
[[nodiscard]] inline double strength(int64_t grow, const When& when) noexcept {
  return grow <= 0 ? 1 : std::min(1.0, static_cast<double>(when.epoch) / static_cast<double>(grow));
}

template <class S>
[[nodiscard]] Field grow_field() {
  return field(static_cast<int64_t S::*>(&S::grow), "grow",
               "Epochs over which the strength rises from nothing to what the parameters say; 0: full at once")
      .min(0);
}

}  // namespace tenon::image_transforms
