// Decoded images on their way into samples, whole or in parts.
#pragma once

#include <decode/decoder.hpp>
#include <decode/raster.hpp>

namespace tenon::image_datasets {

/// What decode() gives of the raster's file, or decode_part() where `choose` is not null. \throws Error (kData).
/// [any thread]
void hand_out(const Raster& raster, const DecodeOptions& options, const Choose* choose, const Allocate& allocate);

/// What decode_mask() gives of the file of a raster of indices: whole, or a region where `choose` is not null. \throws
/// Error (kData). [any thread]
void hand_out_mask(const Raster& raster, Orientation orientation, const Choose* choose, const Allocate& allocate);

}  // namespace tenon::image_datasets
