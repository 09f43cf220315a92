// The mask of an image, read into a field beside it.
#pragma once

#include <functional>
#include <string>

#include <index/image_file.hpp>
#include <masks/mask_values.hpp>

namespace tenon::image_datasets {

/// Reads the mask of a file into a field. `decode` decodes what is wanted of it, without the file's name in errors; `image`
/// is the size of what was read of the image in the file `image_path`. \throws Error (kData) naming both files where
/// sizes differ.
inline void read_mask(const std::string& path, const MaskValues& values, const std::string& image_path,
                      const Extent& image, Sample& sample, int field,
                      const std::function<void(const Allocate&)>& decode) {
  const auto text = [](const Extent& size) { return std::to_string(size.width) + " x " + std::to_string(size.height); };
  naming(path, [&] {
    uint8_t* mask = nullptr;
    const Allocate allocate = [&](Dtype dtype, std::span<const int64_t> shape) -> void* {
      const Extent size{shape[0], shape[1]};
      if (size != image) {
        const bool lies = size == Extent{image.width, image.height};
        throw Error(ErrorCode::kData,
                    "the mask has " + text(size) + " pixels, but its image " + image_path + " has " + text(image) +
                        (lies ? ": is it that of the image as it is stored, before its EXIF data turn it? Then "
                                "\"orientation\": \"ignore\" fits"
                              : ""));
      }
      mask = static_cast<uint8_t*>(sample.allocate(field, dtype, shape).data);
      return mask;
    };
    decode(allocate);
    values.apply({mask, static_cast<std::size_t>(image.height * image.width)}, image.width);
  });
}

}  // namespace tenon::image_datasets
