// Cut, turned and converted on the way.
#include <decode/hand_out.hpp>

#include <array>
#include <string>

#include <decode/pixels.hpp>
#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

Turn turn_for(Orientation orientation, const Raster& raster) {
  return orientation == Orientation::kApply ? raster.turn : Turn();
}

Region chosen(const Choose* choose, const Extent& whole) {
  const Region region = choose != nullptr ? (*choose)(whole) : Region{0, 0, whole.height, whole.width};
  require_within(region, whole);
  return region;
}

[[noreturn]] void fail_at(int64_t row, int64_t column, const std::string& before, const std::string& behind) {
  throw Error(ErrorCode::kData,
              before + " at column " + std::to_string(column) + ", row " + std::to_string(row) + behind);
}

/// One value a pixel, as it is stored: OpenCV widened 1, 2 and 4 bits to the range of 8.
template <class Value>
void take_values(const Raster& raster, const Turn& turn, const Region& region, uint8_t* to) {
  const unsigned step = raster.depth < 8 ? 255U / ((1U << static_cast<unsigned>(raster.depth)) - 1U) : 1U;
  const bool colours = raster.pixels.channels >= 3;
  const Walk<Value> way = walk<Value>(raster.pixels, turn, region);
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

}  // namespace

void hand_out(const Raster& raster, const DecodeOptions& options, const Choose* choose, const Allocate& allocate) {
  const Turn turn = turn_for(options.orientation, raster);
  const Region region = chosen(choose, turned(raster.pixels.extent, turn));
  const std::array<int64_t, 3> shape{region.height, region.width, channels(options.color)};
  deliver(raster.pixels, turn, region, options, allocate(dtype(options), shape));
}

void hand_out_mask(const Raster& raster, Orientation orientation, const Choose* choose, const Allocate& allocate) {
  const Turn turn = turn_for(orientation, raster);
  const Region region = chosen(choose, turned(raster.pixels.extent, turn));
  const std::array<int64_t, 2> shape{region.height, region.width};
  auto* const to = static_cast<uint8_t*>(allocate(Dtype::kUint8, shape));
  if (raster.pixels.wide) {
    take_values<uint16_t>(raster, turn, region, to);
  } else {
    take_values<uint8_t>(raster, turn, region, to);
  }
}

}  // namespace tenon::image_datasets
