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

}  // namespace

RasterHeader jpeg2000_header(Bytes file) {
  constexpr std::size_t kShortest = 24;
  const Bytes stream = codestream_of(file);
  if (stream.size() < kShortest || !has(stream, 0, "\xFF\x4F\xFF\x51")) {
    fail("is damaged: its JPEG 2000 codestream does not begin with its size");
  }
  // The image reaches from an offset to the far corner of a grid.
  const auto side = [&](std::size_t corner, std::size_t offset) {
    return int64_t{big_endian(stream, corner, 4)} - int64_t{big_endian(stream, offset, 4)};
  };
  const Extent stored{side(12, 20), side(8, 16)};
  if (stored.height <= 0 || stored.width <= 0) {
    fail("is damaged: its JPEG 2000 header tells a size of " + std::to_string(stored.width) + " x " +
         std::to_string(stored.height));
  }
  return {stored, {}};
}

}  // namespace tenon::image_datasets
