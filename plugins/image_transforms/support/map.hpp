// What a geometric transform does to one sample, as a value: the same for its image, its masks and its boxes.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include <support/view.hpp>
#include <tenon/params.hpp>

namespace tenon::image_transforms {

enum class Interpolation { kBilinear, kBicubic, kNearest, kArea };
TENON_ENUM(Interpolation, "bilinear", "bicubic", "nearest", "area")

/// Between pixels of an image that is turned or bent.
enum class WarpInterpolation { kNearest, kBilinear };
TENON_ENUM(WarpInterpolation, "nearest", "bilinear")

/// What lies beyond an image. Reflect leaves the edge out (c b | a b c | b a), symmetric repeats it (b a | a b c | c
/// b).
enum class Padding { kConstant, kEdge, kReflect, kSymmetric };
TENON_ENUM(Padding, "constant", "edge", "reflect", "symmetric")

/// A projective map of points (x, y, 1), row-major. Pixel (x, y) has its centre at these very numbers.
using Matrix = std::array<double, 9>;

/// How values are made where the map leaves a choice.
struct Style {
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
  WarpInterpolation warp = WarpInterpolation::kNearest;
  Padding padding = Padding::kConstant;
  std::vector<int64_t> fill{0};  ///< One value for each channel, or one for all; no larger than white.
  uint8_t mask_fill = 0;
};

/// In this order: a window of the image, which may reach beyond it, is resized to `out` and flipped; or each pixel of
/// `out` comes from where `warp` takes it, and nothing else is done.
struct Map {
  Region window;
  Extent out;
  bool flip_horizontal = false;
  bool flip_vertical = false;
  std::optional<Matrix> warp;

  /// The map that changes nothing.
  static Map identity(const Extent& extent) { return cut({0, 0, extent.height, extent.width}); }

  /// A window as it is.
  static Map cut(const Region& window) {
    Map map;
    map.window = window;
    map.out = {window.height, window.width};
    return map;
  }

  /// Output pixels from where the matrix takes them, in the same size.
  static Map warped(const Extent& extent, const Matrix& matrix) {
    Map map = identity(extent);
    map.warp = matrix;
    return map;
  }

  [[nodiscard]] bool is_identity(const Extent& extent) const noexcept {
    return !warp && !flip_horizontal && !flip_vertical && out == extent &&
           window == Region{0, 0, extent.height, extent.width};
  }
};

/// Draws the mapped image. `out` has the size of `map.out` and other memory than `in`; both have 1 to 4 channels.
/// Of 16 bits, values are kept as they are where pixels only move, and clipped to 0 … kWhite16 where they are mixed.
/// \throws Error (kData) where an image is too large to be warped, or has not the channels of the fill. [any thread]
void draw_image(const View& in, const Map& map, const Style& style, const Canvas& out);
void draw_image(const View16& in, const Map& map, const Style& style, const Canvas16& out);

/// Draws the mapped mask: nearest pixel centres, Style::mask_fill beyond. Likewise.
void draw_mask(const View& in, const Map& map, const Style& style, const Canvas& out);

/// Corners of a box: left, top, right and bottom edge, pixels; pixel x reaches from x to x + 1.
using Box = std::array<float, 4>;

/// Where a box comes to lie, and the share of its area that is within the image then, 0 to 1.
struct MappedBox {
  Box box{};
  double visible = 0;
};
[[nodiscard]] MappedBox map_box(const Box& box, const Map& map);

/// a · b
[[nodiscard]] Matrix product(const Matrix& a, const Matrix& b) noexcept;

/// The inverse, or nothing where there is none.
[[nodiscard]] std::optional<Matrix> inverse(const Matrix& matrix) noexcept;

}  // namespace tenon::image_transforms
