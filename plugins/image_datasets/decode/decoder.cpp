// Which decoder takes a file, and what is common to them.
#include <decode/decoder.hpp>

#include <array>
#include <string>

#include <decode/format.hpp>
#include <decode/jpeg.hpp>
#include <decode/pixels.hpp>
#include <decode/raster.hpp>
#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

Format require_image(Bytes file) {
  const Format format = sniff(file).format;
  if (format == Format::kOther) throw Error(ErrorCode::kData, why_no_image(file));
  return format;
}

Region chosen(const Choose* choose, const Extent& whole) {
  const Region region = choose != nullptr ? (*choose)(whole) : Region{0, 0, whole.height, whole.width};
  require_within(region, whole);
  return region;
}

void decode_any(Bytes file, const DecodeOptions& options, const Choose* choose, const Allocate& allocate) {
  const Format format = require_image(file);
  if (format == Format::kJpeg) {
    decode_jpeg(file, options, choose, allocate);
    return;
  }
  Raster raster = read_raster(file, format, false);
  if (options.orientation == Orientation::kIgnore) raster.turn = {};
  const Region region = chosen(choose, turned(raster.pixels.extent, raster.turn));
  const std::array<int64_t, 3> shape{region.height, region.width, channels(options.color)};
  deliver(raster.pixels, raster.turn, region, options, allocate(dtype(options), shape));
}

[[noreturn]] void fail_at(int64_t row, int64_t column, const std::string& before, const std::string& behind) {
  throw Error(ErrorCode::kData,
              before + " at column " + std::to_string(column) + ", row " + std::to_string(row) + behind);
}

/// One value a pixel, as it is stored: OpenCV widened 1, 2 and 4 bits to the range of 8.
template <class Value>
void take_values(const Raster& raster, const Region& region, uint8_t* to) {
  const unsigned step = raster.depth < 8 ? 255U / ((1U << static_cast<unsigned>(raster.depth)) - 1U) : 1U;
  const bool colours = raster.pixels.channels >= 3;
  const Walk<Value> way = walk<Value>(raster.pixels, raster.turn, region);
  for (int64_t y = 0; y < region.height; ++y) {
    const Value* pixel = way.first + y * way.to_next_row;
    for (int64_t x = 0; x < region.width; ++x, pixel += way.to_next_column) {
      if (colours && (pixel[1] != pixel[0] || pixel[2] != pixel[0])) {
        fail_at(region.top + y, region.left + x, "is an image in colours, such as",
                ": a mask holds class numbers, as grey values or as a palette (PNG, BMP, TIFF)");
      }
      const unsigned value = pixel[0] / step;
      if (value > 255) {
        fail_at(region.top + y, region.left + x, "holds " + std::to_string(value), ": class numbers end at 255");
      }
      *to++ = static_cast<uint8_t>(value);
    }
  }
}

void decode_any_mask(Bytes file, Orientation orientation, const Choose* choose, const Allocate& allocate) {
  const Format format = require_image(file);
  if (format == Format::kJpeg) refuse_lossy("JPEG");
  Raster raster = read_raster(file, format, true);
  if (orientation == Orientation::kIgnore) raster.turn = {};
  const Region region = chosen(choose, turned(raster.pixels.extent, raster.turn));
  const std::array<int64_t, 2> shape{region.height, region.width};
  auto* const to = static_cast<uint8_t*>(allocate(Dtype::kUint8, shape));
  if (raster.pixels.wide) {
    take_values<uint16_t>(raster, region, to);
  } else {
    take_values<uint8_t>(raster, region, to);
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
  decode_any_mask(file, orientation, nullptr, allocate);
}

void decode_mask_part(std::span<const std::byte> file, Orientation orientation, const Choose& choose,
                      const Allocate& allocate) {
  decode_any_mask(file, orientation, &choose, allocate);
}

}  // namespace tenon::image_datasets
