// PBM, PGM and PPM, which need no library.
#pragma once

#include <decode/raster.hpp>

namespace tenon::image_datasets {

/// Decodes PBM, PGM or PPM. `stored` leaves numbers as the file has them, but for one bit: black is 0 and white 1, as in
/// other formats. Else they are scaled, as Pillow does, from 0 to the largest one that the file may hold to 0 to 255, or
/// to 65535 where that one is above 255. Pixels may lie within `file`. \throws Error (kData): cut off or damaged.
[[nodiscard]] Raster read_portable(Bytes file, bool stored);

}  // namespace tenon::image_datasets
