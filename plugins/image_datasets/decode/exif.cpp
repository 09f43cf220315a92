// Directories of TIFF, and the eight orientations.
#include <decode/exif.hpp>

#include <algorithm>

namespace tenon::image_datasets {

std::optional<TiffPlace> tiff_place(Bytes tiff, uint32_t tag) noexcept {
  const bool little = has(tiff, 0, "II");
  if (tiff.size() < 8 || (!little && !has(tiff, 0, "MM"))) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t count) {
    return little ? little_endian(tiff, at, count) : big_endian(tiff, at, count);
  };
  if (number(2, 2) != 42) return std::nullopt;
  const std::size_t directory = number(4, 4);
  if (directory + 2 > tiff.size()) return std::nullopt;
  constexpr std::size_t kEntry = 12;
  const std::size_t fits = (tiff.size() - directory - 2) / kEntry;
  const std::size_t entries = std::min<std::size_t>(number(directory, 2), fits);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + kEntry * i;
    if (number(at, 2) == tag) return TiffPlace{at + 8, little, number(at + 2, 2)};
  }
  return std::nullopt;
}

std::optional<uint32_t> tiff_number(Bytes tiff, uint32_t tag) noexcept {
  const std::optional<TiffPlace> place = tiff_place(tiff, tag);
  if (!place || (place->type != 1 && place->type != 3 && place->type != 4)) return std::nullopt;
  const std::size_t count = place->type == 1 ? 1 : (place->type == 3 ? 2 : 4);
  return place->little ? little_endian(tiff, place->at, count) : big_endian(tiff, place->at, count);
}

Turn turn_of(uint32_t orientation) noexcept {
  switch (orientation) {
    case 2: return {false, false, true};
    case 3: return {false, true, true};
    case 4: return {false, true, false};
    case 5: return {true, false, false};
    case 6: return {true, true, false};
    case 7: return {true, true, true};
    case 8: return {true, false, true};
    default: return {};
  }
}

Turn exif_turn(Bytes tiff) noexcept {
  constexpr uint32_t kOrientation = 0x0112;
  return turn_of(tiff_number(tiff, kOrientation).value_or(1));
}

Extent turned(const Extent& stored, const Turn& turn) noexcept {
  return turn.swap ? Extent{stored.width, stored.height} : stored;
}

Region stored_region(const Region& region, const Extent& stored, const Turn& turn) noexcept {
  Region found = turn.swap ? Region{region.left, region.top, region.width, region.height} : region;
  if (turn.flip_rows) found.top = stored.height - found.top - found.height;
  if (turn.flip_columns) found.left = stored.width - found.left - found.width;
  return found;
}

}  // namespace tenon::image_datasets
