// One sample of a sheet as pixels.
#pragma once

#include <opencv2/core.hpp>

#include <sheet/sheet.hpp>

namespace tenon::sheet {

/// The size in which an image is shown in a square of that side: proportions kept, at least one pixel; enlarged by
/// whole factors, where there is room for twice.
[[nodiscard]] cv::Size shown_size(const Image& image, int side);

/// The image in that size with mask and boxes on it, blue, green, red; an alpha channel lets a chessboard through.
/// \throws std::runtime_error for pixels, or a mask, that do not fit the image's size.
[[nodiscard]] cv::Mat paint_image(const Tile& tile, cv::Size size);

}  // namespace tenon::sheet
