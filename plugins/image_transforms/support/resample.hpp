// Antialiased resizing of images: a separable filter that grows with the scale, as Pillow has it.
#pragma once

#include <support/view.hpp>

namespace tenon::image_transforms {

/// Bilinear: the triangle max(0, 1 − |x|). Bicubic: Keys' convolution kernel with a = −1/2 (R. Keys, "Cubic convolution
/// interpolation for digital image processing", IEEE TASSP 1981).
enum class Filter { kBilinear, kBicubic };

/// Resizes all of `in` to the size of `out`. Weights are rounded to 22 bits, the horizontal pass comes first, and each
/// pass rounds to bytes. With `antialias` the filter is widened by the scale where the image shrinks, and ends at the
/// edge: equal to the bit to Image.resize of Pillow 12 with BILINEAR or BICUBIC. Without, it covers the nearest 2 or 4
/// pixels of each axis, the edge's are repeated, and a is −3/4, as OpenCV and torchvision have it. Both images are at
/// least 1 × 1, of the same number of channels, 1 to 4. [any thread]
void resample(const View& in, const Canvas& out, Filter filter, bool antialias);

/// Likewise for images of 16 bits, by the same weights, but these are not rounded, and neither is anything between the
/// passes: only what comes out is rounded, to the nearest whole number, and clipped to 0 … kWhite16. [any thread]
void resample(const View16& in, const Canvas16& out, Filter filter, bool antialias);

}  // namespace tenon::image_transforms
