// Signatures: of what is read, and of what often stands in its place.
#include <decode/format.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view characters;
  std::size_t at;
  Format format;
  std::string_view name;
};

constexpr std::array kSignatures{
    Signature{"\xFF\xD8\xFF"sv, 0, Format::kJpeg, "JPEG"},
    Signature{"\x89PNG\r\n\x1A\n"sv, 0, Format::kPng, "PNG"},
    Signature{"WEBP"sv, 8, Format::kWebp, "WebP"},
    Signature{"BM"sv, 0, Format::kBmp, "BMP"},
    Signature{"II*\0"sv, 0, Format::kTiff, "TIFF"},
    Signature{"MM\0*"sv, 0, Format::kTiff, "TIFF"},
    Signature{"II+\0"sv, 0, Format::kTiff, "TIFF"},
    Signature{"MM\0+"sv, 0, Format::kTiff, "TIFF"},
    Signature{"\0\0\0\x0CjP  \r\n\x87\n"sv, 0, Format::kJpeg2000, "JPEG 2000"},
    Signature{"\xFF\x4F\xFF\x51"sv, 0, Format::kJpeg2000, "JPEG 2000"},
    Signature{"GIF8"sv, 0, Format::kOther, "a GIF image"},
    Signature{"ftypavi"sv, 4, Format::kOther, "an AVIF image"},
    Signature{"ftyphei"sv, 4, Format::kOther, "a HEIC image"},
    Signature{"ftypmif"sv, 4, Format::kOther, "a HEIF image"},
    Signature{"\xFF\x0A"sv, 0, Format::kOther, "a JPEG XL image"},
    Signature{"\0\0\0\x0CJXL "sv, 0, Format::kOther, "a JPEG XL image"},
    Signature{"8BPS"sv, 0, Format::kOther, "a Photoshop image"},
    Signature{"v/1\x01"sv, 0, Format::kOther, "an OpenEXR image"},
    Signature{"#?RADIANCE"sv, 0, Format::kOther, "a Radiance HDR image"},
    Signature{"\0\0\x01\0"sv, 0, Format::kOther, "an icon (ICO)"},
    Signature{"%PDF"sv, 0, Format::kOther, "a PDF document"},
    Signature{"PK\x03\x04"sv, 0, Format::kOther, "a zip archive"},
    Signature{"\x1F\x8B"sv, 0, Format::kOther, "packed by gzip"},
    Signature{"\x93NUMPY"sv, 0, Format::kOther, "a .npy file of numpy"},
    Signature{"RIFF"sv, 0, Format::kOther, "a sound or a video (RIFF)"},
    Signature{"version https://git-lfs"sv, 0, Format::kOther, "a pointer of git-lfs: fetch the file (git lfs pull)"},
    Signature{"<!DOCTYPE html"sv, 0, Format::kOther, "a web page (HTML): was the download refused?"},
    Signature{"<html"sv, 0, Format::kOther, "a web page (HTML): was the download refused?"},
    Signature{"<svg"sv, 0, Format::kOther, "an SVG drawing"},
    Signature{"<?xml"sv, 0, Format::kOther, "a text in XML"},
};

bool is_portable(Bytes file) noexcept {
  if (file.size() < 3 || std::to_integer<char>(file[0]) != 'P') return false;
  const char kind = std::to_integer<char>(file[1]);
  const char behind = std::to_integer<char>(file[2]);
  return kind >= '1' && kind <= '6' && " \t\r\n\v\f#"sv.find(behind) != std::string_view::npos;
}

}  // namespace

Sniffed sniff(Bytes file) noexcept {
  if (is_portable(file)) return {Format::kPortable, "PBM, PGM or PPM"};
  for (const Signature& each : kSignatures) {
    if (has(file, each.at, each.characters)) return {each.format, each.name};
  }
  return {};
}

std::string why_no_image(Bytes file) {
  constexpr std::string_view kRead = "; JPEG, PNG, WebP, BMP, TIFF, PBM/PGM/PPM and JPEG 2000 are read";
  if (file.empty()) return "is empty";
  const std::string_view name = sniff(file).name;
  if (!name.empty())
    return "is no image of a kind that is read: it seems to be " + std::string(name) + std::string(kRead);
  std::string first;
  for (const std::byte each : file.first(std::min<std::size_t>(file.size(), 8))) {
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", std::to_integer<unsigned>(each));
    first.append(first.empty() ? "" : " ").append(digits.data());
  }
  return "is no image: it begins with " + first + std::string(kRead);
}

Format require_image(Bytes file) {
  const Format format = sniff(file).format;
  if (format == Format::kOther) throw Error(ErrorCode::kData, why_no_image(file));
  return format;
}

}  // namespace tenon::image_datasets
