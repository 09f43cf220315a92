// Images in memory as transforms see them: rows of interleaved channels, perhaps part of a larger image.
#pragma once

#include <cstdint>

#include <tenon/components/partial_read.hpp>

namespace tenon::image_transforms {

/// Rows of `width` pixels with `channels` bytes each; `stride` bytes from one row to the next. A view owns nothing.
template <class Byte>
struct Plane {
  Byte* data = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  int64_t stride = 0;

  [[nodiscard]] Byte* row(int64_t y) const noexcept { return data + y * stride; }
  [[nodiscard]] int64_t row_bytes() const noexcept { return width * channels; }
  [[nodiscard]] Extent extent() const noexcept { return {height, width}; }
  [[nodiscard]] bool empty() const noexcept { return height == 0 || width == 0; }

  /// A part of it; `region` lies within.
  [[nodiscard]] Plane part(const Region& region) const noexcept {
    return {data + region.top * stride + region.left * channels, region.height, region.width, channels, stride};
  }

  operator Plane<const Byte>() const noexcept {  // NOLINT(google-explicit-constructor): as T* becomes const T*
    return {data, height, width, channels, stride};
  }
};

using View = Plane<const uint8_t>;
using Canvas = Plane<uint8_t>;

}  // namespace tenon::image_transforms
