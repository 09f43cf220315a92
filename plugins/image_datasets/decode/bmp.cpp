// BMP's file header and the two kinds of information headers that tell the size.
#include <decode/headers.hpp>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
RasterHeader bmp_header(Bytes file) {
  constexpr std::size_t kShortest = 26;
  constexpr std::size_t kWhole = 54;
  if (file.size() < kShortest) throw Error(ErrorCode::kData, "is cut off: it has no whole BMP header");
  const bool old = little_endian(file, 14, 4) == 12;
  if (!old && file.size() < kWhole) throw Error(ErrorCode::kData, "is cut off: it has no whole BMP header");
  const auto signed_at = [&](std::size_t at) { return int64_t{static_cast<int32_t>(little_endian(file, at, 4))}; };
  const int64_t width = old ? little_endian(file, 18, 2) : signed_at(18);
  const int64_t height = old ? little_endian(file, 20, 2) : signed_at(22);
  const Extent stored{height < 0 ? -height : height, width};
  // Runs of equal pixels take two bytes for at most 255 pixels, or for a jump over as many rows.
  if (stored.width <= 0 || stored.height == 0 ||
      stored.height > int64_t{255} * 255 * static_cast<int64_t>(file.size()) / stored.width) {
    throw Error(ErrorCode::kData, "is damaged: its BMP header tells a size of " + std::to_string(stored.width) + " x " +
                                      std::to_string(stored.height));
  }
  const bool packed = !old && little_endian(file, 30, 4) != 0;
  if (!packed) {
    const uint64_t bits = little_endian(file, old ? 24 : 28, 2);
    const uint64_t row = (static_cast<uint64_t>(stored.width) * bits + 31) / 32 * 4;
    const uint64_t end = little_endian(file, 10, 4) + row * static_cast<uint64_t>(stored.height);
    if (end > file.size()) {
      throw Error(ErrorCode::kData, "is cut off: the pixels that the BMP header tells of end at byte " +
                                        std::to_string(end) + ", and the file has " + std::to_string(file.size()));
    }
  }
  return {stored, {}};
}

}  // namespace tenon::image_datasets
