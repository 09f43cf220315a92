// Changes of colour. Of 1, 3 or 4 channels the first three are red, green and blue; a fourth one, alpha, stays.
#pragma once

#include <support/view.hpp>

namespace tenon::image_transforms {

// In all of them `out` has the size and the channels of `in`, unless said otherwise, and may be the same memory. Values
// are cut off to whole numbers as torchvision's transforms v2 do, of which these are the operations of the same names.
// [any thread]

/// x · factor
void adjust_brightness(const View& in, double factor, const Canvas& out);

/// x · factor + m · (1 − factor), where m is the mean of the grey image.
void adjust_contrast(const View& in, double factor, const Canvas& out);

/// x · factor + g · (1 − factor), where g is the pixel's grey. One channel stays as it is.
void adjust_saturation(const View& in, double factor, const Canvas& out);

/// Turns the hue by `turn` full circles, −0.5 to 0.5. One channel stays as it is.
void adjust_hue(const View& in, double turn, const Canvas& out);

/// x · factor + s · (1 − factor), where s is the mean of a pixel, counted five times, and its eight neighbours. Pixels
/// at the edge, and images of less than 3 x 3, stay. `out` is other memory.
void adjust_sharpness(const View& in, double factor, const Canvas& out);

/// Keeps the highest `bits` bits, 0 to 8.
void posterize(const View& in, int bits, const Canvas& out);

/// 255 − x from `threshold` on.
void solarize(const View& in, double threshold, const Canvas& out);

/// Stretches each channel so that its least value becomes 0 and its largest 255.
void autocontrast(const View& in, const Canvas& out);

/// Spreads the values of each channel so that all are about equally frequent.
void equalize(const View& in, const Canvas& out);

/// Grey by ITU-R BT.601, (19595 r + 38470 g + 7471 b + 2^15) / 2^16, as Pillow has it, in 1 channel of `out` or in the
/// first three.
void grayscale(const View& in, const Canvas& out);

}  // namespace tenon::image_transforms
