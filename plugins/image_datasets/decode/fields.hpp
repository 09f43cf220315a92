// The parameters that all datasets of image files share, each under one name and with one summary.
#pragma once

#include <tenon/params.hpp>

namespace tenon::image_datasets {

/// For a struct with the member `Color color`.
template <class S>
[[nodiscard]] Field color_field() {
  return field(
      &S::color, "color",
      "What every image becomes: rgb, which drops alpha and repeats grey; grey; or rgba, with 255 where a file "
      "has no alpha");
}

/// For a struct with the member `int64_t bits`; its constructor calls require_bits().
template <class S>
[[nodiscard]] Field bits_field() {
  return field(&S::bits, "bits",
               "8: uint8, of 16 bits the upper ones. 16: int32 from 0 to 65535, of 8 bits the value times 257")
      .min(8)
      .max(16);
}

/// For a struct with the member `Orientation orientation`.
template <class S>
[[nodiscard]] Field orientation_field() {
  return field(&S::orientation, "orientation",
               "apply turns images upright as their EXIF data says, ignore leaves them as they are stored");
}

/// For a struct with the member `std::vector<std::string> extensions`.
template <class S>
[[nodiscard]] Field extensions_field() {
  return field(&S::extensions, "extensions", "Ends of the names of image files, in any case").min_items(1);
}

}  // namespace tenon::image_datasets
