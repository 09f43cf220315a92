// The innermost loops, once for each instruction set: the same bytes on all of them.
#pragma once

#include <cstdint>

namespace tenon::image_transforms {

/// Rows that a block of the horizontal resampling has side by side.
inline constexpr int64_t kLanes = 16;

/// Bits behind the point in weights of resampling: 32, less 8 of a pixel and 2 for sums beyond [0, 1].
inline constexpr int kWeightBits = 32 - 8 - 2;

/// Weights of one axis: output i is the sum of inputs first[i], …, first[i] + count[i] − 1 with the weights from
/// weights[i · stride] on, in units of 2^−kWeightBits, rounded and clipped to a byte.
struct Taps {
  const int32_t* first = nullptr;
  const int32_t* count = nullptr;
  const int32_t* weights = nullptr;
  int64_t stride = 0;
  int64_t outputs = 0;
};

/// Grey of a pixel by ITU-R BT.601, as Pillow has it.
[[gnu::always_inline]] inline int grey_of(int red, int green, int blue) {
  return (19595 * red + 38470 * green + 7471 * blue + (1 << 15)) >> 16;
}

struct Kernels {
  /// Turns kLanes rows of `bytes` bytes into `bytes` groups of kLanes bytes.
  void (*gather)(const uint8_t* const* rows, int64_t bytes, uint8_t* block);
  /// The reverse: `bytes` groups of kLanes bytes become the first `lanes` of kLanes rows.
  void (*scatter)(const uint8_t* block, int64_t bytes, uint8_t* const* rows, int64_t lanes);
  /// Resamples a gathered block along its columns of `channels` groups each: Taps::outputs columns come out.
  void (*resample_block)(const uint8_t* block, int64_t channels, const Taps& taps, uint8_t* out);
  /// One row of `bytes` bytes from `count` rows that lie `stride` bytes apart.
  void (*resample_row)(const uint8_t* rows, int64_t stride, const int32_t* weights, int64_t count, int64_t bytes,
                       uint8_t* out);
  /// The pixels of a row in reverse order. `out` is other memory.
  void (*flip_row)(const uint8_t* in, int64_t width, int64_t channels, uint8_t* out);
  /// out[c · plane + i] = in[i · channels + c] · scale[c] + bias[c], each operation rounded.
  void (*normalize_planes)(const uint8_t* in, int64_t pixels, int64_t channels, const float* scale, const float* bias,
                           float* out, int64_t plane);
  /// Pixels of 3 or 4 channels, of which the fourth stays: x · factor + grey · rest, cut off to bytes.
  void (*blend_with_grey)(const uint8_t* in, int64_t pixels, int64_t channels, float factor, float rest, uint8_t* out);
  /// Likewise, with their hue turned by `sixths` of a circle, 0 to 6.
  void (*turn_hue)(const uint8_t* in, int64_t pixels, int64_t channels, float sixths, uint8_t* out);
};

/// Those of the best instruction set that this processor has. [any thread]
[[nodiscard]] const Kernels& kernels() noexcept;

/// For tests and for kernels() alone: those of one instruction set, nullptr where this build or processor lacks it.
[[nodiscard]] const Kernels* base_kernels() noexcept;
[[nodiscard]] const Kernels* avx2_kernels() noexcept;
[[nodiscard]] const Kernels* avx512_kernels() noexcept;

}  // namespace tenon::image_transforms
