// Where the tiles of a large image lie.
#pragma once

#include <cstdint>

#include <tenon/components/partial_read.hpp>

namespace tenon::image_datasets {

/// A grid of equal tiles that covers an image exactly: neighbours share at least `overlap` pixels, and the last one of
/// a row or column is moved inwards so that it ends where the image does. The image is at least as large as a tile.
class Grid {
 public:
  /// `overlap` is less than either side of a tile.
  Grid(const Extent& image, const Extent& tile, int64_t overlap) noexcept
      : image_(image), tile_(tile), overlap_(overlap) {}

  [[nodiscard]] int64_t size() const noexcept {
    return count(image_.height, tile_.height) * count(image_.width, tile_.width);
  }

  /// Tiles are numbered row by row.
  [[nodiscard]] Region operator[](int64_t number) const noexcept {
    const int64_t in_row = count(image_.width, tile_.width);
    return {begin(number / in_row, image_.height, tile_.height), begin(number % in_row, image_.width, tile_.width),
            tile_.height, tile_.width};
  }

 private:
  [[nodiscard]] int64_t count(int64_t image, int64_t tile) const noexcept {
    const int64_t step = tile - overlap_;
    return 1 + (image - tile + step - 1) / step;
  }

  [[nodiscard]] int64_t begin(int64_t number, int64_t image, int64_t tile) const noexcept {
    const int64_t place = number * (tile - overlap_);
    return place < image - tile ? place : image - tile;
  }

  Extent image_;
  Extent tile_;
  int64_t overlap_;
};

}  // namespace tenon::image_datasets
