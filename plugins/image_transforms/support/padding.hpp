// Parameters of transforms that look beyond the image.
#pragma once

#include <string>
#include <vector>

#include <support/joint.hpp>
#include <support/map.hpp>
#include <tenon/error.hpp>
#include <tenon/params.hpp>

namespace tenon::image_transforms {

/// Colours of what lies beyond the image; structs of parameters derive from it.
struct FillParams {
  std::vector<int64_t> fill{0};
  int64_t mask_fill = 0;
};

template <class S>
[[nodiscard]] Field fill_field() {
  return field(static_cast<std::vector<int64_t> S::*>(&S::fill), "fill",
               S::kDepths == Depths::k8
                   ? "Value of pixels beyond the image, 0 to 255: one for each channel, or one for all"
                   : "Value of pixels beyond the image, 0 to 255, or 0 to 65535 where it has 16 bits: one for each "
                     "channel, or one for all")
      .min(0)
      .max(S::kDepths == Depths::k8 ? kWhite8 : kWhite16)
      .min_items(1);
}

template <class S>
[[nodiscard]] Field mask_fill_field() {
  return field(static_cast<int64_t S::*>(&S::mask_fill), "mask_fill",
               "Value of a mask beyond the image, such as the class that a loss leaves out")
      .min(0)
      .max(255);
}

#define TENON_FILL_FIELDS(S) fill_field<S>(), mask_fill_field<S>()

/// A style with these colours beyond the image.
[[nodiscard]] inline Style filled(const FillParams& params) {
  Style style;
  style.fill = params.fill;
  style.mask_fill = static_cast<uint8_t>(params.mask_fill);
  return style;
}

[[nodiscard]] inline Style filled(const FillParams& params, WarpInterpolation warp) {
  Style style = filled(params);
  style.warp = warp;
  return style;
}

[[nodiscard]] inline Style filled(const FillParams& params, Padding padding) {
  Style style = filled(params);
  style.padding = padding;
  return style;
}

/// Pixels to add on each side.
struct Sides {
  int64_t left = 0;
  int64_t top = 0;
  int64_t right = 0;
  int64_t bottom = 0;

  [[nodiscard]] bool none() const noexcept { return left == 0 && top == 0 && right == 0 && bottom == 0; }
};

/// One number for all sides, two for left and right, top and bottom, or four: left, top, right, bottom.
/// \throws Error (kConfig) for another count.
[[nodiscard]] inline Sides sides_of(const std::vector<int64_t>& padding) {
  switch (padding.size()) {
    case 0: return {};
    case 1: return {padding[0], padding[0], padding[0], padding[0]};
    case 2: return {padding[0], padding[1], padding[0], padding[1]};
    case 4: return {padding[0], padding[1], padding[2], padding[3]};
    default:
      throw Error(ErrorCode::kConfig,
                  "give one number for all sides, two (left and right, top and bottom) or four (left, top, right, "
                  "bottom)",
                  "/padding");
  }
}

}  // namespace tenon::image_transforms
