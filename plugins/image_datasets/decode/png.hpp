// The chunks of a PNG file: checked before it is decoded, so that messages can say what is wrong.
#pragma once

#include <string>

#include <decode/bytes.hpp>
#include <decode/exif.hpp>

namespace tenon::image_datasets {

struct PngHeader {
  Extent stored;
  Turn turn;       ///< By the chunk eXIf.
  int depth = 8;   ///< Bits of a value: 1, 2, 4, 8 or 16.
  int colour = 0;  ///< Colour type: 0 grey, 2 colours, 3 palette, 4 grey and alpha, 6 colours and alpha.

  [[nodiscard]] bool palette() const noexcept { return colour == 3; }
};

/// Whether the bytes of all chunks are read, to compare their checksums, or the heads of chunks alone.
enum class Checksums { kCompare, kPassOver };

/// Walks over all chunks. \throws Error (kData): cut off, or a checksum of a chunk that matters does not fit.
[[nodiscard]] PngHeader png_header(Bytes file, Checksums checksums);

/// The same image with a palette of greys, so that it decodes to its indices.
[[nodiscard]] std::string with_indices_as_greys(Bytes file, const PngHeader& header);

}  // namespace tenon::image_datasets
