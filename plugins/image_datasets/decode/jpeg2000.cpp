// JPEG 2000: boxes of a file and the first segment of a codestream (ITU-T T.800, annexes I and A).
#include <decode/headers.hpp>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

[[noreturn]] void fail(const std::string& why) { throw Error(ErrorCode::kData, why); }

/// The codestream: the whole file, or what lies in its box jp2c.
Bytes codestream_of(Bytes file) {
  if (has(file, 0, "\xFF\x4F")) return file;
  for (std::size_t at = 0; at + 8 <= file.size();) {
    uint64_t length = big_endian(file, at, 4);
    std::size_t head = 8;
    if (length == 1 && at + 16 <= file.size()) {
      length = uint64_t{big_endian(file, at + 8, 4)} << 32U | big_endian(file, at + 12, 4);
      head = 16;
    }
    if (length == 0) length = file.size() - at;  // up to the end
    if (length < head) fail("is damaged: a box of the JPEG 2000 file has " + std::to_string(length) + " bytes");
    if (length > file.size() - at) {
      fail("is cut off: a box of the JPEG 2000 file that begins at byte " + std::to_string(at) + " has " +
           std::to_string(length) + " bytes, and " + std::to_string(file.size() - at) + " are there");
    }
    if (has(file, at + 4, "jp2c")) return file.subspan(at + head, length - head);
    at += length;
  }
  fail("is cut off: the JPEG 2000 file holds no codestream");
}

/// Whether some component is made of wavelets 9-7, which keep no exact numbers, by the segments up to the first tile.
bool is_lossy(Bytes stream) noexcept {
  constexpr std::size_t kBeforeStyle = 7;       // of COD: length, its own style, progression, layers, colours
  constexpr std::size_t kTransform = 4;         // behind levels, two sides of blocks and their style
  constexpr std::size_t kManyComponents = 257;  // from so many on, their numbers take two bytes
  const bool wide = big_endian(stream, 40, 2) >= kManyComponents;
  for (std::size_t at = 2; at + 4 <= stream.size() && !has(stream, at, "\xFF\x90");) {
    const std::size_t length = big_endian(stream, at + 2, 2);
    const bool all = has(stream, at, "\xFF\x52");  // COD
    const bool one = has(stream, at, "\xFF\x53");  // COC
    const std::size_t place = at + 2 + (all ? kBeforeStyle : wide ? 5U : 4U) + kTransform;
    if ((all || one) && place < stream.size() && stream[place] == std::byte{0}) return true;
    at += 2 + length;
  }
  return false;
}

/// Each tile has a header of 14 bytes at least, so a damaged size is told before memory is taken for it.
bool has_room_for_tiles(Bytes stream) noexcept {
  constexpr uint64_t kLeast = 14;
  const auto tiles = [&](std::size_t corner, std::size_t side, std::size_t offset) {
    const uint64_t end = big_endian(stream, corner, 4);
    const uint64_t begin = big_endian(stream, offset, 4);
    const uint64_t each = big_endian(stream, side, 4);
    return each == 0 || begin >= end ? uint64_t{0} : (end - begin + each - 1) / each;
  };
  const uint64_t across = tiles(8, 24, 32);
  const uint64_t down = tiles(12, 28, 36);
  return across > 0 && down > 0 && across <= stream.size() / kLeast / down;
}

}  // namespace

RasterHeader jpeg2000_header(Bytes file) {
  constexpr std::size_t kShortest = 42;
  const Bytes stream = codestream_of(file);
  if (stream.size() < kShortest || !has(stream, 0, "\xFF\x4F\xFF\x51")) {
    fail("is damaged: its JPEG 2000 codestream does not begin with its size");
  }
  // The image reaches from an offset to the far corner of a grid.
  const auto side = [&](std::size_t corner, std::size_t offset) {
    return int64_t{big_endian(stream, corner, 4)} - int64_t{big_endian(stream, offset, 4)};
  };
  const Extent stored{side(12, 20), side(8, 16)};
  if (stored.height <= 0 || stored.width <= 0 || !has_room_for_tiles(stream)) {
    fail("is damaged: its JPEG 2000 header tells a size of " + std::to_string(stored.width) + " x " +
         std::to_string(stored.height) +
         (stored.height > 0 && stored.width > 0 ? ", and its tiles do not fit it" : ""));
  }
  RasterHeader header{stored, {}};
  if (is_lossy(stream)) header.lossy = "lossy JPEG 2000";
  return header;
}

}  // namespace tenon::image_datasets
