// Images in memory as transforms see them: rows of interleaved channels, perhaps part of a larger image.
#pragma once

#include <cstdint>

#include <tenon/components/partial_read.hpp>

namespace tenon::image_transforms {

/// Rows of `width` pixels with `channels` elements each; `stride` elements from one row to the next. A view owns nothing.
template <class Element>
struct Plane {
  Element* data = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  int64_t stride = 0;

  [[nodiscard]] Element* row(int64_t y) const noexcept { return data + y * stride; }
  [[nodiscard]] int64_t row_elements() const noexcept { return width * channels; }
  [[nodiscard]] int64_t row_bytes() const noexcept { return row_elements() * static_cast<int64_t>(sizeof(Element)); }
  [[nodiscard]] Extent extent() const noexcept { return {height, width}; }
  [[nodiscard]] bool empty() const noexcept { return height == 0 || width == 0; }

  /// A part of it; `region` lies within.
  [[nodiscard]] Plane part(const Region& region) const noexcept {
    return {data + region.top * stride + region.left * channels, region.height, region.width, channels, stride};
  }

  operator Plane<const Element>() const noexcept {  // NOLINT(google-explicit-constructor): as T* becomes const T*
    return {data, height, width, channels, stride};
  }
};

using View = Plane<const uint8_t>;
using Canvas = Plane<uint8_t>;

/// Images of 16 bits.
using View16 = Plane<const int32_t>;
using Canvas16 = Plane<int32_t>;

/// The largest values.
inline constexpr int32_t kWhite8 = 255;
inline constexpr int32_t kWhite16 = 65535;

}  // namespace tenon::image_transforms
