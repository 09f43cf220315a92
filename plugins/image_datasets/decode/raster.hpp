// Images but for JPEG: OpenCV decodes PNG, WebP, BMP, TIFF and JPEG 2000.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <decode/decoder.hpp>
#include <decode/format.hpp>
#include <decode/headers.hpp>
#include <decode/pixels.hpp>

namespace tenon::image_datasets {

/// A decoded image.
struct Raster {
  Pixels pixels;
  Turn turn;                           ///< Still to be done, as EXIF wants it.
  std::shared_ptr<const void> memory;  ///< What the pixels lie in.
  int depth = 8;                       ///< Bits of a stored value where they were widened to 8; else 8.
};

/// Decodes the image of a file of that format, which is not JPEG. `indices`: of palettes give the indices, as grey, and
/// of PBM, PGM and PPM the numbers as they are stored, and what keeps no exact numbers is refused. Pixels may lie within
/// `file`.
/// \throws Error (kData).
[[nodiscard]] Raster read_raster(Bytes file, Format format, bool indices);

/// \throws Error (kData): such a file is no mask.
[[noreturn]] void refuse_lossy(std::string_view kind);

/// From the header alone; nothing where only decoding tells. \throws Error (kData).
[[nodiscard]] std::optional<RasterHeader> raster_header(Bytes file, Format format);

}  // namespace tenon::image_datasets
