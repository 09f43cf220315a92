// How images are handed out: colours, bits and orientation, the same for all datasets of images.
#pragma once

#include <cstdint>
#include <string>

#include <tenon/array.hpp>
#include <tenon/params.hpp>
#include <tenon/spec.hpp>

namespace tenon::image_datasets {

enum class Color { kRgb, kGrey, kRgba };
TENON_ENUM(Color, "rgb", "grey", "rgba")

enum class Orientation { kApply, kIgnore };
TENON_ENUM(Orientation, "apply", "ignore")

/// What a decoder makes of every image, whatever the file holds.
struct DecodeOptions {
  Color color = Color::kRgb;
  int64_t bits = 8;  ///< 8: uint8. 16: int32 from 0 to 65535, where a file of 8 bits gives v · 257.
  Orientation orientation = Orientation::kApply;
};

[[nodiscard]] constexpr int64_t channels(Color color) noexcept {
  return color == Color::kGrey ? 1 : (color == Color::kRgb ? 3 : 4);
}

/// The type of the numbers: uint8 for 8 bits, int32 for 16.
[[nodiscard]] constexpr Dtype dtype(const DecodeOptions& options) noexcept {
  return options.bits == 16 ? Dtype::kInt32 : Dtype::kUint8;
}

/// The field of such images: [H, W, C] with free H and W.
[[nodiscard]] inline FieldSpec image_field(std::string name, const DecodeOptions& options) {
  return {std::move(name), dtype(options), {"H", "W", channels(options.color)}};
}

/// \throws Error (kConfig), pointer "/bits", where `bits` is neither 8 nor 16.
void require_bits(int64_t bits);

}  // namespace tenon::image_datasets
