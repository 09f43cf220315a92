// Formats by the first bytes of a file.
#pragma once

#include <string>
#include <string_view>

#include <decode/bytes.hpp>

namespace tenon::image_datasets {

enum class Format { kJpeg, kPng, kWebp, kBmp, kTiff, kPortable, kJpeg2000, kOther };

/// What a file is: a format that is read, or kOther with a name for what it seems to be, empty where nothing tells.
struct Sniffed {
  Format format = Format::kOther;
  std::string_view name;
};

[[nodiscard]] Sniffed sniff(Bytes file) noexcept;

/// Why a file of format kOther is not read, with its first bytes or what it seems to be.
[[nodiscard]] std::string why_no_image(Bytes file);

/// A format that is read. \throws Error (kData) saying why_no_image().
[[nodiscard]] Format require_image(Bytes file);

}  // namespace tenon::image_datasets
