// Contact sheets: many small pictures with captions as one PNG. A library of its own over OpenCV, opened at run time by
// programs that draw; plain values cross its border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::sheet {

/// Pixels in rows, channels last: grey, RGB, or RGB with alpha.
struct Image {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 3;  ///< 1, 3 or 4.
  std::vector<uint8_t> pixels;

  [[nodiscard]] bool empty() const noexcept { return pixels.empty(); }
};

/// A rectangle in the image's pixels, with a class that gives its colour.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  int64_t colour = 0;
  std::string label;  ///< May be empty.
};

/// One sample.
struct Tile {
  Image image;  ///< Empty: the tile shows `message` in its place.
  std::vector<uint8_t>
      mask;  ///< The class of each pixel, rows of the image's size; 0 and 255 stay clear. May be empty.
  std::vector<Box> boxes;
  std::vector<std::string> caption;  ///< Lines below it: the first of several stands out.
  std::string message;
};

/// A colour and what it stands for.
struct Key {
  int64_t colour = 0;
  std::string text;
};

/// A picture of tiles in the order of reading.
struct Sheet {
  std::string title;
  std::string subtitle;
  std::vector<Key> keys;  ///< Of masks and boxes; may be empty.
  std::vector<Tile> tiles;
  int64_t side = 0;  ///< Pixels of a tile's longer side; 0 chooses one that suits number and size of the images.
};

/// Draws. Its functions may be called from one thread at a time.
class Painter {
 public:
  /// The sheet as the content of a PNG file. Images keep their proportions; small ones are enlarged by whole factors
  /// and so stay sharp. Texts are UTF-8: Latin letters are drawn without their accents, what is no such letter as "?".
  /// \throws std::runtime_error for an image whose pixels do not fit its size, or when memory is short.
  [[nodiscard]] virtual std::vector<std::byte> png(const Sheet& sheet) = 0;

 protected:
  ~Painter() = default;
};

inline constexpr const char* kLibrary = "libtenon_sheet.so.1";
inline constexpr const char* kPainterSymbol = "tenon_sheet_1";
using PainterFunction = Painter*() noexcept;

}  // namespace tenon::sheet
