// What of TIFF is looked at before OpenCV decodes it (TIFF 6.0, section 2: directories of tags).
#include <decode/headers.hpp>

#include <array>
#include <utility>
#include <vector>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

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

}  // namespace

std::optional<RasterHeader> tiff_header(Bytes file) {
  constexpr uint32_t kWidth = 256;
  constexpr uint32_t kHeight = 257;
  require_whole(file);
  const auto width = tiff_number(file, kWidth);
  const auto height = tiff_number(file, kHeight);
  if (!width || !height) return std::nullopt;
  return RasterHeader{turned({*height, *width}, exif_turn(file)), {}};
}

std::string without_multiplied_alpha(Bytes file) {
  constexpr uint32_t kExtraSamples = 338;
  if (tiff_number(file, kExtraSamples) != 2U) return {};
  const TiffPlace place = tiff_place(file, kExtraSamples).value();
  std::string copy(text_of(file));
  const std::size_t width = place.type == 3 ? 2 : (place.type == 4 ? 4 : 1);
  copy[place.at + (place.little ? 0 : width - 1)] = 1;
  return copy;
}

}  // namespace tenon::image_datasets
