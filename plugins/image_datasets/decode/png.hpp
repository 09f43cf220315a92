// The chunks of a PNG file: checked before it is decoded, so that messages can say what is wrong.
#pragma once

#include <string>

#include <decode/bytes.hpp>
#include <decode/exif.hpp>

namespace tenon::image_datasets {

struct PngHeader {
  Extent stored;
  Turn turn;          ///< By the chunk eXIf.
  int depth = 8;      ///< Bits of a value: 1, 2, 4, 8 or 16.
  int colour = 0;     ///< Colour type: 0 grey, 2 colours, 3 palette, 4 grey and alpha, 6 colours and alpha.
  bool more = false;  ///< There are chunks of which no pixel follows.

  [[nodiscard]] bool palette() const noexcept { return colour == 3; }
};

/// Whether the bytes of all chunks are read, to compare their checksums, or the heads of chunks alone.
enum class Checksums { kCompare, kPassOver };

/// Walks over all chunks. \throws Error (kData): cut off, a chunk that is needed is missing or not known, or its checksum
/// does not fit.
[[nodiscard]] PngHeader png_header(Bytes file, Checksums checksums);

/// The same image without chunks of which no pixel follows, which libpng would judge on the console, as a wrong profile of
/// colours. `header` is that of the file.
[[nodiscard]] std::string with_pixels_alone(Bytes file, const PngHeader& header);

/// The same image with a palette of greys, so that it decodes to its indices.
[[nodiscard]] std::string with_indices_as_greys(Bytes file, const PngHeader& header);

}  // namespace tenon::image_datasets
