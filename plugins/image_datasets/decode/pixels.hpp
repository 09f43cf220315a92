// Decoded pixels on their way into the memory of a sample: colour, bits and orientation in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <decode/exif.hpp>
#include <decode/options.hpp>

namespace tenon::image_datasets {

/// Pixels as a decoder left them.
struct Pixels {
  const void* data = nullptr;
  bool wide = false;           ///< Values are uint16_t, not uint8_t.
  std::size_t row_values = 0;  ///< Values from one row to the next.
  int channels = 3;            ///< 1 grey, 2 grey and alpha, 3 colours, 4 colours and alpha.
  bool bgr = false;            ///< Blue comes first.
  Extent extent;
};

/// Where the pixels of a region of the turned image lie: a turn is but another way to step through the source.
template <class Value>
struct Walk {
  const Value* first;
  std::ptrdiff_t to_next_column;
  std::ptrdiff_t to_next_row;
};

template <class Value>
[[nodiscard]] Walk<Value> walk(const Pixels& from, const Turn& turn, const Region& region) noexcept {
  const Region stored = stored_region(region, from.extent, turn);
  const std::ptrdiff_t column = from.channels;
  const auto row = static_cast<std::ptrdiff_t>(from.row_values);
  const std::ptrdiff_t top = turn.flip_rows ? stored.top + stored.height - 1 : stored.top;
  const std::ptrdiff_t left = turn.flip_columns ? stored.left + stored.width - 1 : stored.left;
  const std::ptrdiff_t along_column = turn.flip_columns ? -column : column;
  const std::ptrdiff_t along_row = turn.flip_rows ? -row : row;
  return {static_cast<const Value*>(from.data) + top * row + left * column, turn.swap ? along_row : along_column,
          turn.swap ? along_column : along_row};
}

/// Writes a region of the turned image as the options want it. `to` has room for it.
void deliver(const Pixels& from, const Turn& turn, const Region& region, const DecodeOptions& options, void* to);

/// \throws Error (kData) for a region that is empty or not within an image of that size.
void require_within(const Region& region, const Extent& whole);

/// Memory that a thread keeps between images, unless it was much.
class Scratch {
 public:
  /// At least so many bytes, uninitialised. What was there is lost.
  [[nodiscard]] std::byte* take(std::size_t bytes);

  /// Gives much memory back; for the end of an image.
  void settle() noexcept;

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
};

}  // namespace tenon::image_datasets
