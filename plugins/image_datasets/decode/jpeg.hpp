// JPEG by libjpeg-turbo's own interface.
#pragma once

#include <decode/decoder.hpp>
#include <decode/exif.hpp>

namespace tenon::image_datasets {

/// What the segments before the pixels say.
struct JpegHeader {
  Extent stored;
  Turn turn;  ///< By EXIF; none without it.
};

/// Walks over the segments up to that of the size. \throws Error (kData) when the file ends before.
[[nodiscard]] JpegHeader jpeg_header(Bytes file);

/// decode() or, with a choice, decode_part() for a file that begins as JPEG does.
void decode_jpeg(Bytes file, const DecodeOptions& options, const Choose* choose, const Allocate& allocate);

}  // namespace tenon::image_datasets
