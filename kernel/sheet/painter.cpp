// The layout of a sheet: title, keys, and a grid whose cells are equal.
#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <sheet/lettering.hpp>
#include <sheet/palette.hpp>
#include <sheet/sheet.hpp>
#include <sheet/tile.hpp>

namespace tenon::sheet {
namespace {

constexpr int kMargin = 28;
constexpr int kGap = 14;
constexpr int kBorder = 1;
constexpr int kLeast = 96;  // side of a tile
constexpr int kMost = 224;
constexpr int kWidth = 1600;  // of a sheet, about
constexpr Lettering kTitle{13, true};
constexpr Lettering kSubtitle{9, false};
constexpr Lettering kFirst{8, true};
constexpr Lettering kText{8, false};

int64_t longest_side(const Sheet& sheet) {
  int64_t longest = 1;
  for (const Tile& tile : sheet.tiles) longest = std::max({longest, tile.image.height, tile.image.width});
  return longest;
}

/// As large as the sheet's width allows, but a small image by a whole factor.
int side_of(const Sheet& sheet, int columns) {
  if (sheet.side > 0) return static_cast<int>(std::clamp<int64_t>(sheet.side, 16, 4096));
  const int room = std::clamp((kWidth - 2 * kMargin + kGap) / columns - kGap, kLeast, kMost);
  const int64_t longest = longest_side(sheet);
  return longest * 2 <= room ? static_cast<int>(room / longest * longest) : room;
}

class Layout {
 public:
  explicit Layout(const Sheet& sheet) : sheet_(sheet) {
    const auto count = std::max<std::size_t>(sheet.tiles.size(), 1);
    columns_ = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count))));
    rows_ = static_cast<int>((count + static_cast<std::size_t>(columns_) - 1) / static_cast<std::size_t>(columns_));
    side_ = side_of(sheet, columns_);
    std::size_t lines = 0;
    for (const Tile& tile : sheet.tiles) {
      lines = std::max(lines, tile.caption.size());
      if (tile.image.empty()) continue;
      height_ = std::max(height_, shown_size(tile.image, side_).height);
    }
    if (height_ == 0) height_ = side_ * 3 / 4;
    caption_ = static_cast<int>(lines) * kText.line() + (lines > 0 ? 4 : 0);
    width_ = 2 * kMargin + columns_ * side_ + (columns_ - 1) * kGap;
    width_ = std::max(width_, 480);
    head_ = kMargin;
    if (!sheet.title.empty()) head_ += kTitle.line() + 2;
    if (!sheet.subtitle.empty()) head_ += kSubtitle.line() + 2;
    keys_ = place_keys();
    head_ += kGap;
  }

  cv::Mat paint() {
    picture_ = cv::Mat(head_ + rows_ * (height_ + caption_) + (rows_ - 1) * kGap + kMargin, width_, CV_8UC3, kPaper);
    paint_head();
    for (std::size_t i = 0; i < sheet_.tiles.size(); ++i) {
      const int column = static_cast<int>(i) % columns_;
      const int row = static_cast<int>(i) / columns_;
      paint_tile(sheet_.tiles[i], {kMargin + column * (side_ + kGap), head_ + row * (height_ + caption_ + kGap)});
    }
    return picture_;
  }

 private:
  struct PlacedKey {
    const Key* key;
    std::string text;
    cv::Point corner;
  };

  /// In rows as wide as the sheet.
  std::vector<PlacedKey> place_keys() {
    std::vector<PlacedKey> placed;
    if (sheet_.keys.empty()) return placed;
    head_ += 4;
    int x = kMargin;
    for (const Key& key : sheet_.keys) {
      const std::string text = fitted(drawable(key.text), width_ / 3, kText);
      const int wide = kText.height + 6 + width_of(text, kText) + 18;
      if (x > kMargin && x + wide > width_ - kMargin) {
        x = kMargin;
        head_ += kText.line() + 2;
      }
      placed.push_back({&key, text, {x, head_}});
      x += wide;
    }
    head_ += kText.line() + 2;
    return placed;
  }

  void paint_head() {
    int y = kMargin;
    const int wide = width_ - 2 * kMargin;
    if (!sheet_.title.empty()) {
      write(picture_, fitted(drawable(sheet_.title), wide, kTitle), {kMargin, y + kTitle.height}, kTitle, kInk);
      y += kTitle.line() + 2;
    }
    if (!sheet_.subtitle.empty()) {
      const std::string text = fitted(drawable(sheet_.subtitle), wide, kSubtitle);
      write(picture_, text, {kMargin, y + kSubtitle.height}, kSubtitle, kFaint);
    }
    for (const PlacedKey& each : keys_) {
      const int square = kText.height + 1;
      cv::rectangle(picture_, cv::Rect(each.corner, cv::Size(square, square)), class_colour(each.key->colour),
                    cv::FILLED);
      write(picture_, each.text, {each.corner.x + square + 6, each.corner.y + kText.height}, kText, kInk);
    }
  }

  void paint_tile(const Tile& tile, cv::Point corner) {
    if (tile.image.empty()) {
      paint_message(tile, corner);
    } else {
      const cv::Mat image = paint_image(tile, shown_size(tile.image, side_));
      const cv::Rect place(corner.x + (side_ - image.cols) / 2, corner.y + (height_ - image.rows) / 2, image.cols,
                           image.rows);
      image.copyTo(picture_(place));
      const cv::Rect frame(place.x - kBorder, place.y - kBorder, place.width + 2 * kBorder, place.height + 2 * kBorder);
      cv::rectangle(picture_, frame, kLine, kBorder);
    }
    int foot = corner.y + height_ + 6 + kText.height;
    for (std::size_t i = 0; i < tile.caption.size(); ++i) {
      const bool first = i == 0 && tile.caption.size() > 1;
      const Lettering& lettering = first ? kFirst : kText;
      write(picture_, fitted(drawable(tile.caption[i]), side_, lettering), {corner.x, foot}, lettering,
            first ? kInk : kFaint);
      foot += kText.line();
    }
  }

  void paint_message(const Tile& tile, cv::Point corner) {
    const cv::Rect place(corner, cv::Size(side_, height_));
    cv::rectangle(picture_, place, kBad, cv::FILLED);
    cv::rectangle(picture_, place, kLine, kBorder);
    int foot = corner.y + 8 + kText.height;
    for (const std::string& line : wrapped(drawable(tile.message), side_ - 14, kText)) {
      if (foot + 4 > corner.y + height_) break;
      write(picture_, line, {corner.x + 7, foot}, kText, kBadInk);
      foot += kText.line() - 2;
    }
  }

  const Sheet& sheet_;
  int columns_ = 1;
  int rows_ = 1;
  int side_ = 0;
  int height_ = 0;   // of a cell's image
  int caption_ = 0;  // of a cell's text
  int width_ = 0;    // of the sheet
  int head_ = 0;     // where the grid begins
  std::vector<PlacedKey> keys_;
  cv::Mat picture_;
};

class OpenCvPainter final : public Painter {
 public:
  OpenCvPainter() { cv::setNumThreads(1); }

  std::vector<std::byte> png(const Sheet& sheet) override {
    try {
      std::vector<uint8_t> bytes;
      if (!cv::imencode(".png", Layout(sheet).paint(), bytes, {cv::IMWRITE_PNG_COMPRESSION, 6})) {
        throw std::runtime_error("OpenCV cannot write the sheet as a PNG");
      }
      std::vector<std::byte> content(bytes.size());
      std::transform(bytes.begin(), bytes.end(), content.begin(), [](uint8_t byte) { return std::byte{byte}; });
      return content;
    } catch (const cv::Exception& error) {
      if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
      throw std::runtime_error("OpenCV cannot draw the sheet: " + error.err);
    }
  }
};

}  // namespace
}  // namespace tenon::sheet

extern "C" __attribute__((visibility("default"))) tenon::sheet::Painter* tenon_sheet_1() noexcept {
  try {
    static tenon::sheet::OpenCvPainter painter;
    return &painter;
  } catch (const std::exception&) {
    return nullptr;
  }
}
