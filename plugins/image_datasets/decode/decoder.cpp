// Which decoder takes a file, and what is common to them.
#include <decode/decoder.hpp>

#include <decode/format.hpp>
#include <decode/hand_out.hpp>
#include <decode/jpeg.hpp>
#include <decode/raster.hpp>

namespace tenon::image_datasets {
namespace {

void decode_any(Bytes file, const DecodeOptions& options, const Choose* choose, const Allocate& allocate) {
  const Format format = require_image(file);
  if (format == Format::kJpeg) {
    decode_jpeg(file, options, choose, allocate);
  } else {
    hand_out(read_raster(file, format, false), options, choose, allocate);
  }
}

}  // namespace

Extent extent_of(std::span<const std::byte> file, const DecodeOptions& options) {
  const bool turns = options.orientation == Orientation::kApply;
  const Format format = require_image(file);
  if (format == Format::kJpeg) {
    const JpegHeader header = jpeg_header(file);
    return turned(header.stored, turns ? header.turn : Turn());
  }
  if (const auto header = raster_header(file, format)) return turned(header->stored, turns ? header->turn : Turn());
  const Raster raster = read_raster(file, format, false);
  return turned(raster.pixels.extent, turns ? raster.turn : Turn());
}

void decode(std::span<const std::byte> file, const DecodeOptions& options, const Allocate& allocate) {
  decode_any(file, options, nullptr, allocate);
}

void decode_part(std::span<const std::byte> file, const DecodeOptions& options, const Choose& choose,
                 const Allocate& allocate) {
  decode_any(file, options, &choose, allocate);
}

void decode_mask(std::span<const std::byte> file, Orientation orientation, const Allocate& allocate) {
  const Format format = require_image(file);
  if (format == Format::kJpeg) refuse_lossy("JPEG");
  hand_out_mask(read_raster(file, format, true), orientation, nullptr, allocate);
}

}  // namespace tenon::image_datasets
