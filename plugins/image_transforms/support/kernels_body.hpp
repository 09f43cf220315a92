// The loops of kernels.hpp, for sources that are compiled for one instruction set each. They use no function of another
// header that is not an instruction: the linker keeps one copy of such a function, and it must run on every processor.
#pragma once

#include <cstdint>
#include <cstring>

#include <support/kernels.hpp>

namespace tenon::image_transforms {
namespace {  // NOLINT(google-build-namespaces): each source has its own

using Bytes16 = uint8_t __attribute__((vector_size(16)));

inline Bytes16 load16(const uint8_t* from) {
  Bytes16 bytes;
  std::memcpy(&bytes, from, sizeof(bytes));
  return bytes;
}

inline void store16(const Bytes16& bytes, uint8_t* to) { std::memcpy(to, &bytes, sizeof(bytes)); }

/// Sixteen pixels of three channels, channel by channel.
struct Colours16 {
  Bytes16 red;
  Bytes16 green;
  Bytes16 blue;
};

inline Colours16 split16(const uint8_t* pixels) {
  const Bytes16 a = load16(pixels);
  const Bytes16 b = load16(pixels + 16);
  const Bytes16 c = load16(pixels + 32);
  // Bytes of one channel from the first two registers, then those of the third behind them.
  const Bytes16 red = __builtin_shufflevector(a, b, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
  const Bytes16 green = __builtin_shufflevector(a, b, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0);
  const Bytes16 blue = __builtin_shufflevector(a, b, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0);
  return {__builtin_shufflevector(red, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29),
          __builtin_shufflevector(green, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30),
          __builtin_shufflevector(blue, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31)};
}

// ---- sums of sixteen bytes with weights -----------------------------------------------------------------------------

#if defined(TENON_KERNELS_AVX512)

struct Sums {
  __m512i all;

  void start() { all = _mm512_set1_epi32(1 << (kWeightBits - 1)); }
  void add(const uint8_t* bytes, int32_t weight) {
    const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
    all = _mm512_add_epi32(all, _mm512_mullo_epi32(wide, _mm512_set1_epi32(weight)));
  }
  void finish(uint8_t* to) const {
    const __m512i whole = _mm512_max_epi32(_mm512_srai_epi32(all, kWeightBits), _mm512_setzero_si512());
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtusepi32_epi8(whole));
  }
};

#elif defined(TENON_KERNELS_AVX2)

struct Sums {
  __m256i low, high;

  void start() { low = high = _mm256_set1_epi32(1 << (kWeightBits - 1)); }
  void add(const uint8_t* bytes, int32_t weight) {
    const __m256i factor = _mm256_set1_epi32(weight);
    const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
    const __m128i second = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + 8));
    low = _mm256_add_epi32(low, _mm256_mullo_epi32(_mm256_cvtepu8_epi32(first), factor));
    high = _mm256_add_epi32(high, _mm256_mullo_epi32(_mm256_cvtepu8_epi32(second), factor));
  }
  void finish(uint8_t* to) const {
    const __m256i halves =
        _mm256_packs_epi32(_mm256_srai_epi32(low, kWeightBits), _mm256_srai_epi32(high, kWeightBits));
    const __m256i ordered = _mm256_permute4x64_epi64(halves, 0xD8);
    const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  }
};

#else

struct Sums {
  int32_t all[kLanes];

  void start() {
    for (int32_t& each : all) each = 1 << (kWeightBits - 1);
  }
  void add(const uint8_t* bytes, int32_t weight) {
    for (int64_t i = 0; i < kLanes; ++i) all[i] += bytes[i] * weight;
  }
  void finish(uint8_t* to) const {
    for (int64_t i = 0; i < kLanes; ++i) {
      const int32_t whole = all[i] >> kWeightBits;
      to[i] = static_cast<uint8_t>(whole < 0 ? 0 : whole > 255 ? 255 : whole);
    }
  }
};

#endif

template <int kChannels>
void resample_block_of(const uint8_t* block, const Taps& taps, uint8_t* out) {
  for (int64_t x = 0; x < taps.outputs; ++x) {
    const uint8_t* from = block + taps.first[x] * kChannels * kLanes;
    const int32_t* const weights = taps.weights + x * taps.stride;
    Sums sums[kChannels];
    for (Sums& each : sums) each.start();
    for (int32_t k = 0; k < taps.count[x]; ++k) {
      for (int c = 0; c < kChannels; ++c) sums[c].add(from + c * kLanes, weights[k]);
      from += kChannels * kLanes;
    }
    for (int c = 0; c < kChannels; ++c) sums[c].finish(out + c * kLanes);
    out += kChannels * kLanes;
  }
}

void resample_block(const uint8_t* block, int64_t channels, const Taps& taps, uint8_t* out) {
  switch (channels) {
    case 1: return resample_block_of<1>(block, taps, out);
    case 2: return resample_block_of<2>(block, taps, out);
    case 3: return resample_block_of<3>(block, taps, out);
    default: return resample_block_of<4>(block, taps, out);
  }
}

template <int kGroups>
void resample_groups(const uint8_t* rows, int64_t stride, const int32_t* weights, int64_t count, uint8_t* out) {
  Sums sums[kGroups];
  for (Sums& each : sums) each.start();
  for (int64_t k = 0; k < count; ++k) {
    for (int g = 0; g < kGroups; ++g) sums[g].add(rows + g * kLanes, weights[k]);
    rows += stride;
  }
  for (int g = 0; g < kGroups; ++g) sums[g].finish(out + g * kLanes);
}

void resample_row(const uint8_t* rows, int64_t stride, const int32_t* weights, int64_t count, int64_t bytes,
                  uint8_t* out) {
  int64_t at = 0;
  for (; at + 4 * kLanes <= bytes; at += 4 * kLanes) resample_groups<4>(rows + at, stride, weights, count, out + at);
  for (; at + kLanes <= bytes; at += kLanes) resample_groups<1>(rows + at, stride, weights, count, out + at);
  for (; at < bytes; ++at) {
    int32_t sum = 1 << (kWeightBits - 1);
    for (int64_t k = 0; k < count; ++k) sum += rows[k * stride + at] * weights[k];
    sum >>= kWeightBits;
    out[at] = static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
  }
}

// ---- sixteen rows side by side --------------------------------------------------------------------------------------

/// One step of four that transpose 16 × 16 bytes: rows i and i + 8 are merged byte by byte.
inline void merge_halves(const Bytes16 (&from)[16], Bytes16 (&to)[16]) {
  for (int i = 0; i < 8; ++i) {
    to[2 * i] = __builtin_shufflevector(from[i], from[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    to[2 * i + 1] =
        __builtin_shufflevector(from[i], from[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
}

inline void transpose(Bytes16 (&bytes)[16]) {
  Bytes16 other[16];
  merge_halves(bytes, other);
  merge_halves(other, bytes);
  merge_halves(bytes, other);
  merge_halves(other, bytes);
}

void gather(const uint8_t* const* rows, int64_t bytes, uint8_t* block) {
  Bytes16 square[16];
  int64_t at = 0;
  for (; at + 16 <= bytes; at += 16) {
    for (int i = 0; i < 16; ++i) square[i] = load16(rows[i] + at);
    transpose(square);
    for (int i = 0; i < 16; ++i) store16(square[i], block + (at + i) * 16);
  }
  for (; at < bytes; ++at) {
    for (int i = 0; i < 16; ++i) block[at * 16 + i] = rows[i][at];
  }
}

void scatter(const uint8_t* block, int64_t bytes, uint8_t* const* rows, int64_t lanes) {
  Bytes16 square[16];
  int64_t at = 0;
  for (; at + 16 <= bytes; at += 16) {
    for (int i = 0; i < 16; ++i) square[i] = load16(block + (at + i) * 16);
    transpose(square);
    for (int64_t i = 0; i < lanes; ++i) store16(square[i], rows[i] + at);
  }
  for (; at < bytes; ++at) {
    for (int64_t i = 0; i < lanes; ++i) rows[i][at] = block[at * 16 + i];
  }
}

// ---- flips ----------------------------------------------------------------------------------------------------------

void flip_row(const uint8_t* in, int64_t width, int64_t channels, uint8_t* out) {
  int64_t x = 0;  // pixels of `out` that are done
  if (channels == 1) {
    for (; x + 16 <= width; x += 16) {
      const Bytes16 bytes = load16(in + width - 16 - x);
      store16(__builtin_shufflevector(bytes, bytes, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), out + x);
    }
  } else if (channels == 3) {
    // Five pixels at a time, and a byte before them; the byte that is written behind them is overwritten afterwards.
    for (; x + 6 <= width; x += 5) {
      const Bytes16 bytes = load16(in + (width - 5 - x) * 3 - 1);
      store16(__builtin_shufflevector(bytes, bytes, 13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0), out + x * 3);
    }
  } else if (channels == 4) {
    for (; x + 4 <= width; x += 4) {
      const Bytes16 bytes = load16(in + (width - 4 - x) * 4);
      store16(__builtin_shufflevector(bytes, bytes, 12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3), out + x * 4);
    }
  }
  for (; x < width; ++x) {
    for (int64_t c = 0; c < channels; ++c) out[x * channels + c] = in[(width - 1 - x) * channels + c];
  }
}

// ---- bytes to scaled floats -----------------------------------------------------------------------------------------

inline void scale16(const Bytes16& bytes, float scale, float bias, float* out) {
#if defined(TENON_KERNELS_AVX512)
  const __m512 wide = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(reinterpret_cast<const __m128i&>(bytes)));
  _mm512_storeu_ps(out, _mm512_add_ps(_mm512_mul_ps(wide, _mm512_set1_ps(scale)), _mm512_set1_ps(bias)));
#elif defined(TENON_KERNELS_AVX2)
  const __m128i all = reinterpret_cast<const __m128i&>(bytes);
  const __m256 low = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(all));
  const __m256 high = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(all, 8)));
  const __m256 factor = _mm256_set1_ps(scale);
  const __m256 offset = _mm256_set1_ps(bias);
  _mm256_storeu_ps(out, _mm256_add_ps(_mm256_mul_ps(low, factor), offset));
  _mm256_storeu_ps(out + 8, _mm256_add_ps(_mm256_mul_ps(high, factor), offset));
#else
  for (int i = 0; i < 16; ++i) out[i] = static_cast<float>(bytes[i]) * scale + bias;
#endif
}

void normalize_planes(const uint8_t* in, int64_t pixels, int64_t channels, const float* scale, const float* bias,
                      float* out, int64_t plane) {
  int64_t at = 0;
  if (channels == 1) {
    for (; at + 16 <= pixels; at += 16) scale16(load16(in + at), scale[0], bias[0], out + at);
  } else if (channels == 3) {
    for (; at + 16 <= pixels; at += 16) {
      const Colours16 colours = split16(in + at * 3);
      scale16(colours.red, scale[0], bias[0], out + at);
      scale16(colours.green, scale[1], bias[1], out + plane + at);
      scale16(colours.blue, scale[2], bias[2], out + 2 * plane + at);
    }
  }
  for (; at < pixels; ++at) {
    for (int64_t c = 0; c < channels; ++c) {
      out[c * plane + at] = static_cast<float>(in[at * channels + c]) * scale[c] + bias[c];
    }
  }
}

// ---- colours of pixels ----------------------------------------------------------------------------------------------

/// Pixels that are worked on at a time, channel by channel.
constexpr int kTile = 64;

/// What one tile holds; pixels that are not there are black.
struct Tile {
  uint8_t red[kTile];
  uint8_t green[kTile];
  uint8_t blue[kTile];
};

void split(const uint8_t* in, int64_t count, int64_t channels, Tile& tile) {
  int64_t at = 0;
  for (; channels == 3 && at + 16 <= count; at += 16) {
    const Colours16 colours = split16(in + at * 3);
    store16(colours.red, tile.red + at);
    store16(colours.green, tile.green + at);
    store16(colours.blue, tile.blue + at);
  }
  for (; at < count; ++at) {
    tile.red[at] = in[at * channels];
    tile.green[at] = in[at * channels + 1];
    tile.blue[at] = in[at * channels + 2];
  }
}

/// The reverse; a fourth channel is that of `in`.
void join(const Tile& tile, const uint8_t* in, int64_t count, int64_t channels, uint8_t* out) {
  int64_t at = 0;
  for (; channels == 3 && at + 16 <= count; at += 16) {
    const Bytes16 red = load16(tile.red + at);
    const Bytes16 green = load16(tile.green + at);
    const Bytes16 blue = load16(tile.blue + at);
    const Bytes16 first = __builtin_shufflevector(red, green, 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
    const Bytes16 second = __builtin_shufflevector(red, green, 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
    const Bytes16 third = __builtin_shufflevector(red, green, 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
    store16(__builtin_shufflevector(first, blue, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15),
            out + at * 3);
    store16(__builtin_shufflevector(second, blue, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15),
            out + at * 3 + 16);
    store16(__builtin_shufflevector(third, blue, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31),
            out + at * 3 + 32);
  }
  for (; at < count; ++at) {
    if (channels == 4) out[at * channels + 3] = in[at * channels + 3];
    out[at * channels] = tile.red[at];
    out[at * channels + 1] = tile.green[at];
    out[at * channels + 2] = tile.blue[at];
  }
}

[[gnu::always_inline]] inline uint8_t cut(float value) {
  const float low = value < 0 ? 0 : value;
  return static_cast<uint8_t>(static_cast<int>(low > 255 ? 255 : low));
}

/// Calls change(tile) for all pixels, tile by tile.
template <class Change>
void change_tiles(const uint8_t* in, int64_t pixels, int64_t channels, uint8_t* out, const Change& change) {
  Tile tile{};
  for (int64_t at = 0; at < pixels; at += kTile) {
    const int64_t count = pixels - at < kTile ? pixels - at : kTile;
    split(in + at * channels, count, channels, tile);
    change(tile);
    join(tile, in + at * channels, count, channels, out + at * channels);
  }
}

void blend_with_grey(const uint8_t* in, int64_t pixels, int64_t channels, float factor, float rest, uint8_t* out) {
  change_tiles(in, pixels, channels, out, [=](Tile& tile) {
    for (int i = 0; i < kTile; ++i) {
      const float grey = static_cast<float>(grey_of(tile.red[i], tile.green[i], tile.blue[i])) * rest;
      tile.red[i] = cut(static_cast<float>(tile.red[i]) * factor + grey);
      tile.green[i] = cut(static_cast<float>(tile.green[i]) * factor + grey);
      tile.blue[i] = cut(static_cast<float>(tile.blue[i]) * factor + grey);
    }
  });
}

/// A channel of the colour of this hue, 0 to 12 sixths of a circle behind the channel's own: HSV to RGB without cases.
[[gnu::always_inline]] inline float channel_of(float sixths, float most, float range) {
  const float around = sixths >= 6 ? sixths - 6 : sixths;
  const float falling = 4 - around;
  const float nearer = around < falling ? around : falling;
  const float low = nearer < 0 ? 0 : nearer;
  return most - range * (low > 1 ? 1 : low);
}

void turn_hue(const uint8_t* in, int64_t pixels, int64_t channels, float sixths, uint8_t* out) {
  change_tiles(in, pixels, channels, out, [=](Tile& tile) {
    for (int i = 0; i < kTile; ++i) {
      const auto red = static_cast<float>(tile.red[i]);
      const auto green = static_cast<float>(tile.green[i]);
      const auto blue = static_cast<float>(tile.blue[i]);
      const float more = red > green ? red : green;
      const float most = more > blue ? more : blue;
      const float less = red < green ? red : green;
      const float range = most - (less < blue ? less : blue);
      const float divisor = range > 0 ? range : 1;
      const float by_green = 2 + (blue - red) / divisor;
      const float by_blue = 4 + (red - green) / divisor;
      const float by_red = (green - blue) / divisor;
      const float hue = (most == red ? by_red : most == green ? by_green : by_blue) + sixths;
      const float up = hue < 0 ? hue + 6 : hue;
      const float turned = up >= 6 ? up - 6 : up;
      // From [0, 1] to bytes in equal parts, as torchvision has it.
      constexpr float kParts = 255.999F / 255;
      tile.red[i] = cut(channel_of(turned + 5, most, range) * kParts);
      tile.green[i] = cut(channel_of(turned + 3, most, range) * kParts);
      tile.blue[i] = cut(channel_of(turned + 1, most, range) * kParts);
    }
  });
}

constexpr Kernels kKernels{&gather,   &scatter,          &resample_block,  &resample_row,
                           &flip_row, &normalize_planes, &blend_with_grey, &turn_hue};

}  // namespace
}  // namespace tenon::image_transforms
