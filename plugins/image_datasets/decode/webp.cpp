// WebP's container (RFC 9649): RIFF with chunks of name, length and data, padded to even lengths.
#include <decode/headers.hpp>

#include <string>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

[[noreturn]] void fail(const std::string& why) { throw Error(ErrorCode::kData, why); }

/// Size of lossy and lossless pictures as their own data tells it.
Extent lossy_extent(Bytes data) {
  if (data.size() < 10 || !has(data, 3, "\x9D\x01\x2A")) fail("is damaged: its WebP picture has no header");
  return {little_endian(data, 8, 2) & 0x3FFFU, little_endian(data, 6, 2) & 0x3FFFU};
}

Extent lossless_extent(Bytes data) {
  if (data.size() < 5 || data[0] != std::byte{0x2F}) fail("is damaged: its WebP picture has no header");
  const uint32_t bits = little_endian(data, 1, 4);
  return {1 + (bits >> 14U & 0x3FFFU), 1 + (bits & 0x3FFFU)};
}

}  // namespace

RasterHeader webp_header(Bytes file) {
  constexpr std::size_t kHeader = 12;
  const std::size_t told = std::size_t{8} + little_endian(file, 4, 4);
  if (told > file.size()) {
    fail("is cut off: the WebP header tells " + std::to_string(told) + " bytes, and the file has " +
         std::to_string(file.size()));
  }
  RasterHeader header;
  const Bytes chunks = file.first(told);
  for (std::size_t at = kHeader; at + 8 <= chunks.size();) {
    const std::size_t length = little_endian(chunks, at + 4, 4);
    if (length > chunks.size() - at - 8) fail("is damaged: a chunk of the WebP file reaches past its end");
    const Bytes data = chunks.subspan(at + 8, length);
    if (has(chunks, at, "ANIM")) fail("is an animated WebP, which is not read: save one frame of it");
    if (has(chunks, at, "VP8 ")) {
      header.stored = lossy_extent(data);
      header.lossy = "lossy WebP";
    }
    if (has(chunks, at, "VP8L")) header.stored = lossless_extent(data);
    if (has(chunks, at, "EXIF")) {
      header.turn = exif_turn(has(data, 0, std::string_view("Exif\0\0", 6)) ? data.subspan(6) : data);
    }
    at += 8 + length + length % 2;
  }
  if (header.stored.height == 0 || header.stored.width == 0) fail("is damaged: the WebP file has no picture");
  return header;
}

}  // namespace tenon::image_datasets
