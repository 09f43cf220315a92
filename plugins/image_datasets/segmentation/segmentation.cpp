// dataset:segmentation: images and, for each, a mask with the class of every pixel.
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <decode/fields.hpp>
#include <files/content_hash.hpp>
#include <index/file_hash.hpp>
#include <index/folder_walk.hpp>
#include <index/image_file.hpp>
#include <masks/mask_values.hpp>
#include <masks/pairs.hpp>
#include <masks/params.hpp>
#include <masks/read_mask.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_datasets {

struct SegmentationParams {
  std::filesystem::path images;
  std::filesystem::path masks;
  int64_t classes = 0;
  std::map<std::string, int64_t> values;
  std::vector<int64_t> ignore;
  bool ignore_others = false;
  std::string image_suffix;
  std::string mask_suffix;
  std::vector<std::string> extensions = usual_extensions();
  Color color = Color::kRgb;
  int64_t bits = 8;
  Orientation orientation = Orientation::kApply;

  TENON_PARAMS(
      SegmentationParams,
      field(&SegmentationParams::images, "images", "Folder of the images, with folders below or without").required(),
      field(
          &SegmentationParams::masks, "masks",
          "Folder of the masks, which lie as the images do and are called like them but for the extension: PNG with a "
          "palette, whose indices count, or grey values as they are stored; no JPEG")
          .required(),
      field(&SegmentationParams::classes, "classes", "Number of classes: 0 to classes - 1 in the field mask")
          .min(1)
          .max(255)
          .required(),
      values_field<SegmentationParams>(), ignore_field<SegmentationParams>(), ignore_others_field<SegmentationParams>(),
      field(&SegmentationParams::image_suffix, "image_suffix",
            "What the names of images have before the extension and those of masks have not, such as \"_image\""),
      field(&SegmentationParams::mask_suffix, "mask_suffix", "Likewise for masks, such as \"_labels\""),
      extensions_field<SegmentationParams>(), color_field<SegmentationParams>(), bits_field<SegmentationParams>(),
      orientation_field<SegmentationParams>())
};

/// The index lies in memory; files are read when they are asked for.
class Segmentation final : public Dataset, public Remarks, public ItemNames {
 public:
  explicit Segmentation(SegmentationParams params)
      : params_(std::move(params)),
        extensions_(params_.extensions),
        values_(params_.classes, params_.values, params_.ignore, params_.ignore_others) {
    require_bits(params_.bits);
    options_ = {params_.color, params_.bits, params_.orientation};
  }

  static Ports ports() { return {{}, {Port::any("image"), Port::of("mask", {Dtype::kUint8}, {"H", "W"})}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {Remarks::kAbility, ItemNames::kAbility}; }
  static Example example() {
    return {.params = R"({"images": "images", "masks": "masks", "classes": 2})",
            .files = {{"images/a.ppm", std::string("P6 2 1 255\n\1\2\3\4\5\6", 17)},
                      {"masks/a.pgm", std::string("P5 2 1 255\n\0\1", 13)}},
            .inputs = {}};
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == ItemNames::kAbility) return static_cast<ItemNames*>(this);
    return wanted == Remarks::kAbility ? static_cast<Remarks*>(this) : nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    return {image_field("image", options_), {"mask", Dtype::kUint8, {"H", "W"}}};
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    walk_images(params_.images, "", extensions_, "/images", images_);
    walk_images(params_.masks, "", extensions_, "/masks", masks_);
    images_.files.shrink();
    masks_.files.shrink();
    remarks_ = remarks_of(images_, params_.images);
    for (std::string& each : remarks_of(masks_, params_.masks)) remarks_.push_back(std::move(each));
    pairs_ = pair_masks({params_.images, images_, "/images", params_.image_suffix},
                        {params_.masks, masks_, "/masks", params_.mask_suffix}, remarks_);
    const uint64_t images =
        hash_of_files(params_.images, pairs_.size(), [&](std::size_t i) { return images_.files[pairs_[i].image]; });
    const uint64_t masks =
        hash_of_files(params_.masks, pairs_.size(), [&](std::size_t i) { return masks_.files[pairs_[i].mask]; });
    fingerprint_ = "segmentation-2:" + to_string(spec().front()) +
                   (params_.orientation == Orientation::kApply ? ":upright:" : ":as stored:") + values_.fingerprint() +
                   ":" + datasets::hex(images_.files.hash()) + ":" + datasets::hex(masks_.files.hash()) + ":" +
                   datasets::hex(datasets::content_hash(std::as_bytes(std::span(pairs_)))) + ":" +
                   datasets::hex(images) + ":" + datasets::hex(masks);
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(pairs_.size()); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }
  [[nodiscard]] std::string item_name(int64_t index) const override {
    return path_of(params_.images, images_.files[pairs_[static_cast<std::size_t>(index)].image]);
  }

  void read(int64_t index, Sample& out) const override {
    const Pair& pair = pairs_[static_cast<std::size_t>(index)];
    const std::string image = item_name(index);
    Extent extent;
    with_file(image, [&](std::span<const std::byte> bytes) {
      decode(bytes, options_, [&](Dtype dtype, std::span<const int64_t> shape) {
        extent = {shape[0], shape[1]};
        return out.allocate(0, dtype, shape).data;
      });
    });
    const std::string mask = path_of(params_.masks, masks_.files[pair.mask]);
    read_mask(mask, values_, image, extent, out, 1,
              [&](const Allocate& allocate) { decode_mask(file_bytes(mask), params_.orientation, allocate); });
  }

 private:
  SegmentationParams params_;
  Extensions extensions_;
  MaskValues values_;
  DecodeOptions options_;
  Found images_;
  Found masks_;
  std::vector<Pair> pairs_;
  std::vector<std::string> remarks_;
  std::string fingerprint_;
};

TENON_COMPONENT(Segmentation, SegmentationParams, "segmentation",
                "Pairs of an image and a mask that holds the class of every pixel")

}  // namespace tenon::image_datasets
