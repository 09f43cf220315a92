// PNG's third edition, section 5 (chunks), by which a file is a signature and chunks of length, name, data and
// checksum.
#include <decode/png.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

constexpr std::size_t kSignature = 8;
constexpr std::size_t kAround = 12;  // length, name and checksum

struct Chunk {
  std::string_view name;
  Bytes data;
  Bytes all;  // with what is around it
};

/// Whether pixels follow from chunks of that name.
bool is_pixels(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"IHDR", "PLTE", "tRNS", "IDAT", "IEND"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

uint32_t checksum(Bytes name_and_data) noexcept {
  return static_cast<uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(name_and_data.data()), name_and_data.size()));
}

/// The chunk at `at`. \throws Error (kData).
Chunk chunk_at(Bytes file, std::size_t at, Checksums checksums) {
  const Bytes rest = file.subspan(at);
  const std::size_t length = rest.size() < kAround ? 0 : big_endian(rest, 0, 4);
  if (rest.size() < kAround || rest.size() - kAround < length) {
    throw Error(ErrorCode::kData, "is cut off: the PNG file has " + std::to_string(file.size()) +
                                      " bytes and ends within a chunk or before the last one");
  }
  const Chunk chunk{text_of(rest.subspan(4, 4)), rest.subspan(8, length), rest.first(kAround + length)};
  const bool matters = checksums == Checksums::kCompare && chunk.name[0] >= 'A' && chunk.name[0] <= 'Z';
  if (matters && checksum(rest.subspan(4, 4 + length)) != big_endian(rest, 8 + length, 4)) {
    throw Error(ErrorCode::kData,
                "is damaged: the checksum of the PNG chunk at byte " + std::to_string(at) + " does not fit its data");
  }
  return chunk;
}

void append_number(std::string& to, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    to.push_back(static_cast<char>(number >> static_cast<unsigned>(shift) & 0xFFU));
  }
}

void append_greys(std::string& to, std::size_t entries) {
  append_number(to, static_cast<uint32_t>(3 * entries));
  const std::size_t begin = to.size();
  to.append("PLTE");
  for (std::size_t i = 0; i < entries; ++i) to.append(3, static_cast<char>(i));
  append_number(to, checksum(std::as_bytes(std::span(to).subspan(begin))));
}

/// The header's own values, before memory is taken by them.
PngHeader head_of(Bytes data, std::size_t file_bytes) {
  PngHeader header;
  header.stored = {big_endian(data, 4, 4), big_endian(data, 0, 4)};
  header.depth = std::to_integer<int>(data[8]);
  header.colour = std::to_integer<int>(data[9]);
  constexpr std::array kDepths{1, 2, 4, 8, 16};
  constexpr std::array kColours{0, 2, 3, 4, 6};
  const bool known = std::find(kDepths.begin(), kDepths.end(), header.depth) != kDepths.end();
  if (!known || (header.palette() && header.depth > 8)) {
    throw Error(ErrorCode::kData,
                "is damaged: its PNG header tells values of " + std::to_string(header.depth) + " bits");
  }
  const bool grey_or_palette = header.colour == 0 || header.palette();
  const auto is = [&](std::size_t at, int most) { return std::to_integer<int>(data[at]) <= most; };
  if (std::find(kColours.begin(), kColours.end(), header.colour) == kColours.end() ||
      (!grey_or_palette && header.depth < 8) || !is(10, 0) || !is(11, 0) || !is(12, 1)) {
    throw Error(ErrorCode::kData, "is damaged: its PNG header tells a kind of pixels that there is not");
  }
  // Deflate makes at most 1032 bytes of one, and a byte holds at most 8 pixels.
  constexpr int64_t kMostPixelsPerByte = int64_t{1032} * 8;
  const auto most = kMostPixelsPerByte * static_cast<int64_t>(file_bytes);
  if (header.stored.height == 0 || header.stored.width == 0 || header.stored.height > most / header.stored.width) {
    throw Error(ErrorCode::kData, "is damaged: its PNG header tells a size of " + std::to_string(header.stored.width) +
                                      " x " + std::to_string(header.stored.height));
  }
  return header;
}

}  // namespace

PngHeader png_header(Bytes file, Checksums checksums) {
  PngHeader header;
  bool first = true;
  bool has_palette = false;
  bool has_pixels = false;
  for (std::size_t at = kSignature;;) {
    const Chunk chunk = chunk_at(file, at, checksums);
    if (first && (chunk.name != "IHDR" || chunk.data.size() < 13)) {
      throw Error(ErrorCode::kData, "is damaged: the PNG file does not begin with the chunk IHDR");
    }
    if (first) header = head_of(chunk.data, file.size());
    first = false;
    if (chunk.name == "eXIf") header.turn = exif_turn(chunk.data);
    if (chunk.name == "PLTE") has_palette = !has_pixels;
    if (chunk.name == "IDAT") has_pixels = true;
    if (chunk.name == "IEND") {
      if (has_pixels && (has_palette || !header.palette())) return header;
      throw Error(ErrorCode::kData,
                  "is damaged: the PNG file has no " + std::string(has_pixels ? "palette" : "pixels"));
    }
    if (!is_pixels(chunk.name) && chunk.name[0] >= 'A' && chunk.name[0] <= 'Z') {
      throw Error(ErrorCode::kData,
                  "is damaged: the PNG file has a chunk that is not known at byte " + std::to_string(at));
    }
    header.more = header.more || !is_pixels(chunk.name);
    at += chunk.all.size();
  }
}

std::string with_pixels_alone(Bytes file, const PngHeader& header) {
  std::string other(text_of(file.first(kSignature)));
  std::size_t colours = 0;  // of the palette
  bool has_pixels = false;
  for (std::size_t at = kSignature;;) {
    const Chunk chunk = chunk_at(file, at, Checksums::kPassOver);
    at += chunk.all.size();
    const std::size_t size = chunk.data.size();
    bool kept = is_pixels(chunk.name);
    if (chunk.name == "PLTE") {
      kept = header.palette() && !has_pixels && colours == 0;
      if (kept) colours = size / 3;
    } else if (chunk.name == "tRNS") {
      kept = !has_pixels && (header.palette() ? size > 0 && size <= colours
                                              : size == (header.colour == 0 ? 2U : 6U) && header.colour <= 2);
    } else if (chunk.name == "IDAT") {
      has_pixels = true;
    }
    if (kept) other.append(text_of(chunk.all));
    if (chunk.name == "IEND") return other;
  }
}

std::string with_indices_as_greys(Bytes file, const PngHeader& header) {
  std::string other;
  other.reserve(file.size() + 3 * 256);
  other.append(text_of(file.first(kSignature)));
  for (std::size_t at = kSignature;;) {
    const Chunk chunk = chunk_at(file, at, Checksums::kPassOver);
    at += chunk.all.size();
    if (chunk.name == "PLTE") {
      append_greys(other, std::size_t{1} << static_cast<unsigned>(header.depth));
    } else if (chunk.name == "IHDR" || chunk.name == "IDAT" || chunk.name == "IEND") {
      other.append(text_of(chunk.all));
    }
    if (chunk.name == "IEND") return other;
  }
}

}  // namespace tenon::image_datasets
