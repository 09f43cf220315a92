// Which mask belongs to which image: the one of the same name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <index/folder_walk.hpp>

namespace tenon::image_datasets {

/// A folder of files and what their names have besides the part that pairs agree in.
struct PairSide {
  const std::filesystem::path& root;
  const Found& found;
  std::string pointer;  ///< Of the parameter that holds the root.
  std::string suffix;   ///< Before the point of the extension; may be empty.
};

/// Places in the two lists of files.
struct Pair {
  uint32_t image = 0;
  uint32_t mask = 0;
};

/// All pairs, in the order of the images. Paths within the folders agree but for suffix and extension. Files without
/// the suffix of their side, and masks of no image, become remarks.
/// \throws Error (kData) listing images without a mask; for two files of one name; for no pair at all.
[[nodiscard]] std::vector<Pair> pair_masks(const PairSide& images, const PairSide& masks,
                                           std::vector<std::string>& remarks);

}  // namespace tenon::image_datasets
