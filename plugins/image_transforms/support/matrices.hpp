// Matrices of turns, shears and views, as Map::warp wants them: from output pixels to input pixels.
#pragma once

#include <array>
#include <optional>

#include <support/map.hpp>

namespace tenon::image_transforms {

struct Affine {
  double degrees = 0;  ///< Clockwise as one looks at the image.
  double right = 0;    ///< Pixels.
  double down = 0;     ///< Pixels.
  double scale = 1;
  double shear_x = 0;  ///< Degrees.
  double shear_y = 0;  ///< Degrees.
  /// What stays in place, in pixels from the image's centre.
  double center_x = 0;
  double center_y = 0;
};

/// The inverse of translation · rotation · scale · shear along y · shear along x about the centre: the map of
/// torchvision's affine(), whose rotate() turns the other way round.
[[nodiscard]] Matrix affine_matrix(const Affine& affine, const Extent& extent);

/// A point of an image, pixels.
struct Point {
  double x = 0;
  double y = 0;
};

/// The corners top left, top right, bottom right, bottom left of an image move to `corners`: torchvision's
/// perspective(). Nothing where three of them lie on a line.
[[nodiscard]] std::optional<Matrix> perspective_matrix(const std::array<Point, 4>& corners, const Extent& extent);

}  // namespace tenon::image_transforms
