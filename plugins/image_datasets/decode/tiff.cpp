// What of TIFF is looked at before OpenCV decodes it (TIFF 6.0, section 2: directories of tags).
#include <decode/headers.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

constexpr uint32_t kPhotometric = 262;

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
  constexpr std::array kOffsetsAndCounts{std::pair{273U, 279U}, std::pair{324U, 325U}};
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
  return RasterHeader{turned({*height, *width}, exif_turn(file)), {}, bits == 1 ? 1 : 8};
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
