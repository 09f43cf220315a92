// Scaling, masks, boxes.
#include <sheet/tile.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <opencv2/imgproc.hpp>

#include <sheet/lettering.hpp>
#include <sheet/palette.hpp>

namespace tenon::sheet {
namespace {

constexpr double kMaskShare = 0.4;
constexpr int kEdge = 2;  // pixels of a mask's outline, which shows on any image
constexpr uint8_t kIgnored = 255;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// A view of the pixels; OpenCV does not write to it.
cv::Mat view_of(const Image& image) {
  require(image.height > 0 && image.width > 0 && image.height <= 1 << 20 && image.width <= 1 << 20,
          "an image of a sheet has no size");
  require(image.channels == 1 || image.channels == 3 || image.channels == 4,
          "an image of a sheet has neither 1, 3 nor 4 channels");
  require(static_cast<int64_t>(image.pixels.size()) == image.height * image.width * image.channels,
          "the pixels of an image of a sheet do not fit its size");
  return {static_cast<int>(image.height), static_cast<int>(image.width), CV_8UC(static_cast<int>(image.channels)),
          const_cast<uint8_t*>(image.pixels.data())};
}

cv::Mat scaled(const cv::Mat& from, cv::Size size) {
  cv::Mat to;
  const bool whole = size.width % from.cols == 0 && size.height % from.rows == 0;
  const bool larger = size.width > from.cols;
  cv::resize(from, to, size, 0, 0, whole ? cv::INTER_NEAREST : larger ? cv::INTER_LINEAR : cv::INTER_AREA);
  return to;
}

/// Over squares of two greys, as editors show what can be seen through.
cv::Mat over_chessboard(const cv::Mat& rgba) {
  constexpr int kSquare = 8;
  cv::Mat out(rgba.size(), CV_8UC3);
  for (int y = 0; y < rgba.rows; ++y) {
    for (int x = 0; x < rgba.cols; ++x) {
      const auto& pixel = rgba.at<cv::Vec4b>(y, x);
      const int behind = (x / kSquare + y / kSquare) % 2 == 0 ? 255 : 204;
      for (int channel = 0; channel < 3; ++channel) {
        out.at<cv::Vec3b>(y, x)[channel] =
            static_cast<uint8_t>((pixel[2 - channel] * pixel[3] + behind * (255 - pixel[3])) / 255);
      }
    }
  }
  return out;
}

void lay_mask(cv::Mat& picture, const Tile& tile) {
  const Image& image = tile.image;
  require(static_cast<int64_t>(tile.mask.size()) == image.height * image.width,
          "a mask of a sheet does not fit its image");
  const cv::Mat whole(static_cast<int>(image.height), static_cast<int>(image.width), CV_8U,
                      const_cast<uint8_t*>(tile.mask.data()));
  cv::Mat mask;
  cv::resize(whole, mask, picture.size(), 0, 0, cv::INTER_NEAREST);
  const auto at = [&](int y, int x) {
    return mask.at<uint8_t>(std::clamp(y, 0, mask.rows - 1), std::clamp(x, 0, mask.cols - 1));
  };
  for (int y = 0; y < mask.rows; ++y) {
    for (int x = 0; x < mask.cols; ++x) {
      const uint8_t number = at(y, x);
      if (number == 0 || number == kIgnored) continue;
      const bool edge = at(y, x - kEdge) != number || at(y, x + kEdge) != number || at(y - kEdge, x) != number ||
                        at(y + kEdge, x) != number;
      const double share = edge ? 1 : kMaskShare;
      const cv::Scalar colour = class_colour(number);
      auto& pixel = picture.at<cv::Vec3b>(y, x);
      for (int channel = 0; channel < 3; ++channel) {
        pixel[channel] = cv::saturate_cast<uint8_t>(pixel[channel] * (1 - share) + colour[channel] * share);
      }
    }
  }
}

void draw_box(cv::Mat& picture, const Box& box, const Image& image) {
  if (!std::isfinite(box.left + box.top + box.right + box.bottom)) return;
  const double across = static_cast<double>(picture.cols) / static_cast<double>(image.width);
  const double down = static_cast<double>(picture.rows) / static_cast<double>(image.height);
  const auto within = [](double value, int size) {
    return static_cast<int>(std::lround(std::clamp(value, 0.0, static_cast<double>(size - 1))));
  };
  const cv::Point from(within(box.left * across, picture.cols), within(box.top * down, picture.rows));
  const cv::Point to(within(box.right * across - 1, picture.cols), within(box.bottom * down - 1, picture.rows));
  const cv::Scalar colour = class_colour(box.colour);
  cv::rectangle(picture, from, to, colour, 2, cv::LINE_8);
  if (box.label.empty()) return;
  constexpr Lettering kLettering{7, false};
  const std::string text = fitted(drawable(box.label), picture.cols - 8, kLettering);
  const cv::Size chip(width_of(text, kLettering) + 6, kLettering.height + 7);
  const cv::Point corner(std::clamp(from.x, 0, std::max(picture.cols - chip.width, 0)),
                         from.y >= chip.height ? from.y - chip.height + 1 : from.y);
  cv::rectangle(picture, cv::Rect(corner, chip) & cv::Rect({0, 0}, picture.size()), colour, cv::FILLED);
  write(picture, text, {corner.x + 3, corner.y + chip.height - 4}, kLettering, rgb(255, 255, 255));
}

}  // namespace

cv::Size shown_size(const Image& image, int side) {
  const auto longer = static_cast<double>(std::max(image.height, image.width));
  double factor = side / std::max(longer, 1.0);
  if (factor >= 2) factor = std::floor(factor);
  const auto pixels = [&](int64_t size) {
    return std::max(1, static_cast<int>(std::lround(static_cast<double>(size) * factor)));
  };
  return {pixels(image.width), pixels(image.height)};
}

cv::Mat paint_image(const Tile& tile, cv::Size size) {
  cv::Mat picture = scaled(view_of(tile.image), size);
  if (tile.image.channels == 4) {
    picture = over_chessboard(picture);
  } else {
    cv::Mat colours;
    cv::cvtColor(picture, colours, tile.image.channels == 1 ? cv::COLOR_GRAY2BGR : cv::COLOR_RGB2BGR);
    picture = colours;
  }
  if (!tile.mask.empty()) lay_mask(picture, tile);
  for (const Box& box : tile.boxes) draw_box(picture, box, tile.image);
  return picture;
}

}  // namespace tenon::sheet
