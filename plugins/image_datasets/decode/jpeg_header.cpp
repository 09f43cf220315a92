// Size and orientation from the segments of a JPEG file (ITU-T T.81, annex B), without the library.
#include <decode/jpeg.hpp>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

[[noreturn]] void fail_cut() {
  throw Error(ErrorCode::kData, "is cut off: the JPEG data ends before the segment that tells the image's size");
}

bool is_frame(uint32_t marker) noexcept {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

bool stands_alone(uint32_t marker) noexcept { return marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8); }

}  // namespace

JpegHeader jpeg_header(Bytes file) {
  constexpr uint32_t kExif = 0xE1;
  constexpr uint32_t kEnd = 0xD9;
  constexpr uint32_t kScan = 0xDA;
  JpegHeader header;
  bool has_exif = false;
  std::size_t at = 2;
  for (;;) {
    // Bytes that do not belong to a segment are passed over, as the library does.
    while (at < file.size() && file[at] != std::byte{0xFF}) ++at;
    while (at < file.size() && file[at] == std::byte{0xFF}) ++at;
    if (at >= file.size()) fail_cut();
    const auto marker = std::to_integer<uint32_t>(file[at++]);
    if (marker == 0 || stands_alone(marker)) continue;
    if (marker == kEnd || marker == kScan || at + 2 > file.size()) fail_cut();
    const std::size_t length = big_endian(file, at, 2);
    if (length < 2 || at + length > file.size()) fail_cut();
    const Bytes segment = file.subspan(at + 2, length - 2);
    at += length;
    if (marker == kExif && !has_exif && has(segment, 0, std::string_view("Exif\0\0", 6))) {
      has_exif = true;
      header.turn = exif_turn(segment.subspan(6));
    }
    if (!is_frame(marker)) continue;
    if (segment.size() < 6) fail_cut();
    header.stored = {big_endian(segment, 1, 2), big_endian(segment, 3, 2)};
    if (header.stored.height == 0 || header.stored.width == 0) {
      throw Error(ErrorCode::kData, "is damaged: its JPEG header tells a size of " +
                                        std::to_string(header.stored.width) + " x " +
                                        std::to_string(header.stored.height));
    }
    return header;
  }
}

}  // namespace tenon::image_datasets
