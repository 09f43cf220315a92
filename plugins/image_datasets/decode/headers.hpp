// Sizes from the headers of files that OpenCV decodes, checked so that messages can say what is wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <decode/bytes.hpp>
#include <decode/exif.hpp>

namespace tenon::image_datasets {

/// The size as it is stored and the turn still to be done.
struct RasterHeader {
  Extent stored;
  Turn turn;
  int depth = 8;  ///< Bits of a stored value where OpenCV widens them to 8; else 8.
  std::string_view lossy =
      {};  ///< What the file is where pixels were not kept exactly, such as "lossy WebP"; else empty.
};

/// \throws Error (kData): cut off, damaged, or a film.
[[nodiscard]] RasterHeader webp_header(Bytes file);

/// \throws Error (kData): cut off or damaged.
[[nodiscard]] RasterHeader bmp_header(Bytes file);

/// The same image with a palette of greys, so that it decodes to its indices; empty where it has no palette.
/// `file` has a header that bmp_header takes.
[[nodiscard]] std::string bmp_with_indices_as_greys(Bytes file);

/// \throws Error (kData): cut off or damaged.
[[nodiscard]] RasterHeader jpeg2000_header(Bytes file);

/// PBM, PGM and PPM. \throws Error (kData): cut off or damaged.
[[nodiscard]] RasterHeader portable_header(Bytes file);

/// TIFF is turned by OpenCV: the size is that of the turned image. Nothing of BigTIFF and of damaged directories.
/// \throws Error (kData): cut off, damaged, or of a number of bits that is not read.
[[nodiscard]] std::optional<RasterHeader> tiff_header(Bytes file);

/// Where a TIFF file says of its alpha that it is one of its own (ExtraSamples is 2), OpenCV multiplies the colours by
/// it, and does not where it is said to be in them already (1): a copy that says so, empty where there is no such
/// alpha.
[[nodiscard]] std::string without_multiplied_alpha(Bytes file);

/// The same image as greys that are the indices of its palette; empty where it has none. \throws Error (kData) where
/// greys of several bits are stored with white as 0, so that they do not decode to their numbers.
[[nodiscard]] std::string tiff_with_indices_as_greys(Bytes file);

}  // namespace tenon::image_datasets
