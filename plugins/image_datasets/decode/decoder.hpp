// Images from the bytes of a file: JPEG by libjpeg-turbo, the other formats by OpenCV, but for PBM, PGM and PPM.
//
// What comes out equals what Pillow gives: `ImageOps.exif_transpose(Image.open(f)).convert("RGB")` for colour rgb. In
// detail:
// - JPEG: accurate integer DCT and smooth upsampling of chroma, as Pillow. Grey is the luminance as it is stored, that
//   of `draft("L")`. CMYK and YCCK count as inverted, as Adobe writes them, and become RGB by Pillow's formula. Twelve
//   bits and lossless JPEG are refused. A file that ends too early, or whose data is damaged so that pixels are lost,
//   is an error; bytes too many between segments are not.
// - PNG, WebP, BMP, TIFF, PBM/PGM/PPM and JPEG 2000: alpha is dropped, not blended; palettes become their colours; grey
//   is repeated, or made of colours as 0.299 R + 0.587 G + 0.114 B, rounded. Of 16 bits the upper 8 are kept where 8
//   are wanted. PGM and PPM whose largest number is another than 255 or 65535 are scaled to these. Of several pages the
//   first; animated WebP is refused, and so is TIFF in whose pixels libtiff finds an error.
// - Orientation by EXIF (JPEG, PNG, WebP); TIFF comes upright whatever is asked for.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <decode/options.hpp>
#include <tenon/components/partial_read.hpp>

namespace tenon::image_datasets {

/// Gives memory for an image of that type and shape [H, W, C], whole: Sample::allocate(…).data. Called once, as soon as
/// the size is known and before pixels are decoded. What it throws passes through.
using Allocate = std::function<void*(Dtype, std::span<const int64_t> shape)>;

/// Chooses the part of an image of that size, oriented as it will be handed out. What it throws passes through.
using Choose = std::function<Region(Extent)>;

/// The size of the image, oriented as it will be handed out, from the file's headers alone but for BigTIFF: other bytes
/// are not touched.
/// \throws Error (kData) as decode() does. [any thread]
[[nodiscard]] Extent extent_of(std::span<const std::byte> file, const DecodeOptions& options);

/// Decodes the image of a file into memory from `allocate`, straight where the format allows it. Threads keep their
/// decoder and scratch memory between calls, and no more threads are started.
/// \throws Error (kData) that says what is wrong, without the file's name, to be put behind it and ": ": "is cut off:
/// …", "is no image: …". [any thread]
void decode(std::span<const std::byte> file, const DecodeOptions& options, const Allocate& allocate);

/// Decodes a region alone; every pixel equals that of decode(). Of JPEG, what lies below is not decoded, and neither is
/// most of what lies beside it, so damage there goes unseen. The other formats are decoded whole, then cut.
/// \throws Error as decode() does, and for a region that is empty or not within the image. [any thread]
void decode_part(std::span<const std::byte> file, const DecodeOptions& options, const Choose& choose,
                 const Allocate& allocate);

/// Decodes a mask of class numbers into uint8 [H, W]: the indices of a palette (PNG, BMP, TIFF) or the values of grey as
/// they are stored, of 1, 2, 4, 8 or 16 bits, as long as they are at most 255. Of one bit black is 0 and white 1 in all
/// formats, whatever the file calls them. Colours count where all three are equal.
/// \throws Error (kData) as decode(), also for JPEG and lossy WebP, JPEG 2000 and TIFF, which keep no exact numbers, for
/// colours, and for TIFF of more bits in which 0 is white. [any thread]
void decode_mask(std::span<const std::byte> file, Orientation orientation, const Allocate& allocate);

}  // namespace tenon::image_datasets
