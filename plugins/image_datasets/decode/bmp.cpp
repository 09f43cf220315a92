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
  constexpr uint32_t kLastPacking = 3;
  const uint32_t packing = old ? 0 : little_endian(file, 30, 4);
  if (packing > kLastPacking) {
    throw Error(ErrorCode::kData, "is a BMP file packed in a way that is not read, of number " +
                                      std::to_string(packing) + ": save it as PNG");
  }
  const bool packed = packing != 0;
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

std::string bmp_with_indices_as_greys(Bytes file) {
  constexpr std::size_t kFileHeader = 14;
  constexpr std::size_t kPixels = 10;
  constexpr std::size_t kUsedColours = 46;
  const std::size_t header = little_endian(file, kFileHeader, 4);
  const bool old = header == 12;
  const std::size_t bits = little_endian(file, old ? 24 : 28, 2);
  if (bits > 8) return {};
  const std::size_t entry = old ? 3 : 4;
  const std::size_t begin = kFileHeader + header;
  const std::size_t pixels = little_endian(file, kPixels, 4);
  if (pixels < begin || pixels > file.size()) {
    throw Error(ErrorCode::kData, "is damaged: its BMP header ends at byte " + std::to_string(begin) +
                                      ", and tells of pixels from byte " + std::to_string(pixels) + " on");
  }
  // The palette may be shorter than what pixels hold, so it gives way to a whole one.
  const std::size_t entries = std::size_t{1} << bits;
  std::string other(text_of(file.first(begin)));
  const auto put = [&](std::size_t at, std::size_t number) {
    for (std::size_t i = 0; i < 4; ++i) other[at + i] = static_cast<char>(number >> 8 * i & 0xFFU);
  };
  put(kPixels, begin + entries * entry);
  if (!old) put(kUsedColours, 0);  // all of them
  for (std::size_t i = 0; i < entries; ++i) {
    other.append(3, static_cast<char>(i));
    if (!old) other.push_back('\0');
  }
  return other.append(text_of(file.subspan(pixels)));
}

}  // namespace tenon::image_datasets
