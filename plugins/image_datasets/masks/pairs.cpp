// Both sides are sorted by what they agree in, then looked up.
#include <masks/pairs.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

struct Named {
  std::string_view stem;
  uint32_t place;
};

std::string quoted(const std::filesystem::path& root, std::string_view name) {
  return std::string("\"").append(root.string()).append("/").append(name).append("\"");
}

/// The files of a side by their stems. \throws Error (kData) for two of one stem.
std::vector<Named> by_stem(const PairSide& side, std::vector<std::string>& remarks) {
  const NameList& files = side.found.files;
  std::vector<Named> all;
  all.reserve(files.size());
  std::size_t others = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string_view stem = files[i].substr(0, files[i].rfind('.'));
    if (stem.ends_with(side.suffix)) {
      all.push_back({stem.substr(0, stem.size() - side.suffix.size()), static_cast<uint32_t>(i)});
    } else {
      ++others;
    }
  }
  if (all.empty()) {
    throw Error(ErrorCode::kData,
                side.root.string() + ": holds no image" +
                    (others == 0 ? "" : " whose name ends with \"" + side.suffix + "\" before its extension"),
                side.pointer);
  }
  if (others > 0) {
    remarks.push_back(side.root.string() + ": " + std::to_string(others) +
                      (others == 1 ? " image was" : " images were") + " left out: no \"" + side.suffix +
                      "\" before the extension");
  }
  std::sort(all.begin(), all.end(), [](const Named& a, const Named& b) { return a.stem < b.stem; });
  const auto twice = std::adjacent_find(all.begin(), all.end(), [](auto& a, auto& b) { return a.stem == b.stem; });
  if (twice != all.end()) {
    throw Error(ErrorCode::kData,
                quoted(side.root, files[twice->place]) + " and " + quoted(side.root, files[twice[1].place]) +
                    " have one name: images and masks find each other by names, so remove one",
                side.pointer);
  }
  return all;
}

}  // namespace

std::vector<Pair> pair_masks(const PairSide& images, const PairSide& masks, std::vector<std::string>& remarks) {
  constexpr std::size_t kMost = 10;
  const std::vector<Named> with_image = by_stem(images, remarks);
  const std::vector<Named> with_mask = by_stem(masks, remarks);
  std::vector<Pair> pairs;
  pairs.reserve(with_image.size());
  std::size_t missing = 0;
  std::string list;
  for (const Named& image : with_image) {
    const auto mask = std::lower_bound(with_mask.begin(), with_mask.end(), image.stem,
                                       [](const Named& each, std::string_view stem) { return each.stem < stem; });
    if (mask != with_mask.end() && mask->stem == image.stem) {
      pairs.push_back({image.place, mask->place});
    } else if (++missing <= kMost) {
      list.append(list.empty() ? "" : ", ").append(quoted(images.root, images.found.files[image.place]));
    }
  }
  if (missing > 0) {
    throw Error(ErrorCode::kData,
                masks.root.string() + ": lacks the masks of " + std::to_string(missing) + " of " +
                    std::to_string(with_image.size()) + " images: " + list +
                    (missing > kMost ? " and " + std::to_string(missing - kMost) + " more" : ""),
                masks.pointer);
  }
  const std::size_t left = with_mask.size() - with_image.size();
  if (left > 0) {
    remarks.push_back(masks.root.string() + ": " + std::to_string(left) +
                      (left == 1 ? " mask belongs to no image and was" : " masks belong to no image and were") +
                      " left out");
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.image < b.image; });
  return pairs;
}

}  // namespace tenon::image_datasets
