// Orientation of images as cameras note it.
#pragma once

#include <cstdint>
#include <optional>

#include <decode/bytes.hpp>
#include <tenon/components/partial_read.hpp>

namespace tenon::image_datasets {

/// A number of the first directory of a TIFF structure, which EXIF is too: of type byte, short or long, its first
/// element. Nothing where it is not there or the structure is damaged.
[[nodiscard]] std::optional<uint32_t> tiff_number(Bytes tiff, uint32_t tag) noexcept;

/// Where the value of such a number lies in the structure, and the same structure's byte order; for writing another
/// value.
struct TiffPlace {
  std::size_t at = 0;
  bool little = true;
  uint32_t type = 0;  ///< 1 byte, 3 short, 4 long.
};
[[nodiscard]] std::optional<TiffPlace> tiff_place(Bytes tiff, uint32_t tag) noexcept;

/// How stored pixels are turned to be upright.
struct Turn {
  bool swap = false;          ///< Rows become columns, after the flips.
  bool flip_rows = false;     ///< The last stored row comes first.
  bool flip_columns = false;  ///< The last stored column comes first.

  friend bool operator==(const Turn&, const Turn&) = default;
};

/// The turn of an orientation from 1 to 8 (EXIF 2.32, tag 0x0112); of any other number, and of 1, none.
[[nodiscard]] Turn turn_of(uint32_t orientation) noexcept;

/// The turn that a TIFF structure asks for by its tag of orientation.
[[nodiscard]] Turn exif_turn(Bytes tiff) noexcept;

[[nodiscard]] Extent turned(const Extent& stored, const Turn& turn) noexcept;

/// The stored pixels that make a region of the turned image.
[[nodiscard]] Region stored_region(const Region& region, const Extent& stored, const Turn& turn) noexcept;

}  // namespace tenon::image_datasets
