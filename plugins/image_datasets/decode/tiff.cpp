// What of TIFF is looked at before OpenCV decodes it (TIFF 6.0, section 2: directories of tags).
#include <decode/headers.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

/// Tags.
constexpr uint32_t kPacking = 259;
constexpr uint32_t kPhotometric = 262;
constexpr uint32_t kStripOffsets = 273;
constexpr uint32_t kRowsOfStrip = 278;
constexpr uint32_t kTileWidth = 322;
constexpr uint32_t kTileHeight = 323;
constexpr uint32_t kTileOffsets = 324;

/// Packings that keep no exact numbers.
constexpr uint32_t kJpegOfOld = 6;
constexpr uint32_t kJpeg = 7;

uint32_t number(Bytes file, bool little, std::size_t at, std::size_t width) noexcept {
  return little ? little_endian(file, at, width) : big_endian(file, at, width);
}

/// All numbers of a tag of type short or long; none where it is not there or they lie outside of the file.
std::vector<uint64_t> numbers_of(Bytes file, uint32_t tag) {
  const std::optional<TiffPlace> place = tiff_place(file, tag);
  if (!place || (place->type != 3 && place->type != 4)) return {};
  const std::size_t width = place->type == 3 ? 2 : 4;
  const std::size_t count = number(file, place->little, place->at - 4, 4);
  const std::size_t begin = count * width <= 4 ? place->at : number(file, place->little, place->at, 4);
  if (begin > file.size() || count > (file.size() - begin) / width) return {};
  std::vector<uint64_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(number(file, place->little, begin + i * width, width));
  return all;
}

/// What OpenCV tells on the console where it is not so.
void require_read(Bytes file, uint32_t bits) {
  if (!tiff_number(file, kPhotometric)) {
    throw Error(ErrorCode::kData, "is damaged: its TIFF header does not tell what its numbers mean");
  }
  constexpr std::array<uint32_t, 9> kRead{1, 8, 10, 12, 14, 16, 32, 64};
  if (std::find(kRead.begin(), kRead.end(), bits) != kRead.end()) return;
  throw Error(ErrorCode::kData, "is a TIFF file with values of " + std::to_string(bits) +
                                    " bits, which are not read: save it with 8 or 16 bits, or as PNG");
}

/// A copy of a file with another number in a tag that it has.
std::string with_number(Bytes file, uint32_t tag, char number) {
  const TiffPlace place = tiff_place(file, tag).value();
  std::string copy(text_of(file));
  const std::size_t width = place.type == 3 ? 2 : (place.type == 4 ? 4 : 1);
  copy[place.at + (place.little ? 0 : width - 1)] = number;
  return copy;
}

/// Pixels lie in strips or tiles.
void require_whole(Bytes file) {
  constexpr std::array kOffsetsAndCounts{std::pair{kStripOffsets, 279U}, std::pair{kTileOffsets, 325U}};
  for (const auto& [offset_tag, count_tag] : kOffsetsAndCounts) {
    const std::vector<uint64_t> offsets = numbers_of(file, offset_tag);
    const std::vector<uint64_t> counts = numbers_of(file, count_tag);
    if (offsets.size() != counts.size()) continue;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const uint64_t end = offsets[i] + counts[i];
      if (end <= file.size()) continue;
      throw Error(ErrorCode::kData, "is cut off: the TIFF header tells of pixels up to byte " + std::to_string(end) +
                                        ", and the file has " + std::to_string(file.size()));
    }
  }
}

/// How many bytes a packing makes of one at most; nothing where that is not known.
std::optional<uint64_t> most_bytes_of_one(uint32_t packing) noexcept {
  switch (packing) {
    case 1: return 1;
    case 5: return 4096;  // LZW: a code of 9 to 12 bits stands for some 4,000 bytes at most
    case 8:
    case 32946: return 1032;  // Deflate
    case 32773: return 64;    // PackBits: 128 bytes of two
    default: return std::nullopt;
  }
}

/// A damaged size is told before memory is taken for it: by the number of strips or tiles, and by the file's bytes.
void require_fitting(Bytes file, uint64_t height, uint64_t width, uint64_t bits) {
  const auto parts = [](uint64_t whole, uint64_t part) { return part == 0 ? 0 : (whole + part - 1) / part; };
  const std::optional<uint32_t> rows = tiff_number(file, kRowsOfStrip);
  const std::optional<uint32_t> tile_width = tiff_number(file, kTileWidth);
  const std::optional<uint32_t> tile_height = tiff_number(file, kTileHeight);
  const std::vector<uint64_t> strips = numbers_of(file, kStripOffsets);
  const std::vector<uint64_t> tiles = numbers_of(file, kTileOffsets);
  bool fits = true;
  if (!strips.empty() && rows) fits = strips.size() >= parts(height, *rows);
  if (!tiles.empty() && tile_width && tile_height) {
    fits = tiles.size() >= parts(height, *tile_height) * parts(width, *tile_width);
  }
  const std::optional<uint64_t> most = most_bytes_of_one(tiff_number(file, kPacking).value_or(1));
  // In floating point, for the product may have more than 64 bits.
  const double bytes = static_cast<double>(width) * static_cast<double>(height) * static_cast<double>(bits) / 8;
  if (most && bytes > static_cast<double>(*most) * static_cast<double>(file.size())) fits = false;
  if (fits) return;
  throw Error(ErrorCode::kData, "is damaged: its TIFF header tells a size of " + std::to_string(width) + " x " +
                                    std::to_string(height) + ", which its pixels do not fill");
}

/// Bits of the first value of a pixel.
uint32_t bits_of(Bytes file) {
  constexpr uint32_t kBits = 258;
  const std::vector<uint64_t> bits = numbers_of(file, kBits);
  return bits.empty() ? 1 : static_cast<uint32_t>(bits.front());
}

}  // namespace

std::optional<RasterHeader> tiff_header(Bytes file) {
  constexpr uint32_t kWidth = 256;
  constexpr uint32_t kHeight = 257;
  require_whole(file);
  const auto width = tiff_number(file, kWidth);
  const auto height = tiff_number(file, kHeight);
  if (!width || !height) return std::nullopt;
  const uint32_t bits = bits_of(file);
  require_read(file, bits);
  require_fitting(file, *height, *width, bits);
  RasterHeader header{turned({*height, *width}, exif_turn(file)), {}, bits == 1 ? 1 : 8, {}};
  const uint32_t packing = tiff_number(file, kPacking).value_or(1);
  if (packing == kJpegOfOld || packing == kJpeg) header.lossy = "TIFF packed as JPEG";
  return header;
}

std::string without_multiplied_alpha(Bytes file) {
  constexpr uint32_t kExtraSamples = 338;
  return tiff_number(file, kExtraSamples) == 2U ? with_number(file, kExtraSamples, 1) : std::string();
}

std::string tiff_with_indices_as_greys(Bytes file) {
  constexpr char kBlackIsZero = 1;
  constexpr uint32_t kPalette = 3;
  const std::optional<uint32_t> kind = tiff_number(file, kPhotometric);
  if (kind == kPalette) return with_number(file, kPhotometric, kBlackIsZero);
  if (kind == 0U && bits_of(file) > 1) {
    throw Error(
        ErrorCode::kData,
        "is a TIFF file in which 0 is white (WhiteIsZero), so that its numbers are not those of classes: save it "
        "with BlackIsZero, or as PNG");
  }
  return {};
}

}  // namespace tenon::image_datasets
