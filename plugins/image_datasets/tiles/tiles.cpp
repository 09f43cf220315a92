// dataset:tiles: large images cut into tiles of one size.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <decode/fields.hpp>
#include <decode/hand_out.hpp>
#include <decode/pixels.hpp>
#include <files/content_hash.hpp>
#include <files/mapped_file.hpp>
#include <files/share_out.hpp>
#include <index/file_hash.hpp>
#include <index/folder_walk.hpp>
#include <index/image_file.hpp>
#include <masks/mask_values.hpp>
#include <masks/pairs.hpp>
#include <masks/params.hpp>
#include <masks/read_mask.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>
#include <tiles/grid.hpp>
#include <tiles/kept_rasters.hpp>

namespace tenon::image_datasets {

enum class Smaller { kError, kSkip };
TENON_ENUM(Smaller, "error", "skip")

struct TilesParams {
  std::filesystem::path path;
  int64_t height = 0;
  int64_t width = 0;
  int64_t overlap = 0;
  Smaller smaller = Smaller::kError;
  std::optional<std::filesystem::path> masks;
  std::optional<int64_t> classes;
  std::map<std::string, int64_t> values;
  std::vector<int64_t> ignore;
  bool ignore_others = false;
  std::vector<std::string> extensions = usual_extensions();
  Color color = Color::kRgb;
  int64_t bits = 8;
  Orientation orientation = Orientation::kApply;

  TENON_PARAMS(
      TilesParams,
      field(&TilesParams::path, "path", "An image, or a folder of images, with folders below or without").required(),
      field(&TilesParams::height, "height", "Height of a tile, pixels").min(1).required(),
      field(&TilesParams::width, "width", "Width of a tile, pixels").min(1).required(),
      field(&TilesParams::overlap, "overlap",
            "Pixels that neighbours share at least; the last tile of a row or column is moved inwards, so that tiles "
            "cover the image and nothing else")
          .min(0),
      field(&TilesParams::smaller, "smaller", "What becomes of images smaller than a tile: error, or skip"),
      field(&TilesParams::masks, "masks",
            "Folder of masks as dataset:segmentation has them, for the field mask; of an image alone the file")
          .word("none"),
      field(&TilesParams::classes, "classes", "Number of classes in the masks").min(1).max(255).word("none"),
      values_field<TilesParams>(), ignore_field<TilesParams>(), ignore_others_field<TilesParams>(),
      extensions_field<TilesParams>(), color_field<TilesParams>(), bits_field<TilesParams>(),
      orientation_field<TilesParams>())
};

/// Sizes and places lie in memory from open() on. Of JPEG a tile is decoded alone; images of other formats are decoded whole
/// and kept for the tiles that are read next.
class Tiles final : public Dataset, public Columns, public PartialRead, public Remarks, public ItemNames {
 public:
  explicit Tiles(TilesParams params)
      : params_(std::move(params)),
        extensions_(params_.extensions),
        values_(params_.classes.value_or(1), params_.values, params_.ignore, params_.ignore_others) {
    require_bits(params_.bits);
    options_ = {params_.color, params_.bits, params_.orientation};
    if (params_.overlap >= std::min(params_.height, params_.width)) {
      throw Error(ErrorCode::kConfig,
                  std::to_string(params_.overlap) + " pixels are as much as a tile has or more: give less", "/overlap");
    }
    if (params_.masks.has_value() != params_.classes.has_value()) {
      throw Error(ErrorCode::kConfig, "\"masks\" and \"classes\" go together: give both or none",
                  params_.masks ? "/classes" : "/masks");
    }
  }

  static Ports ports() { return {{}, {Port::any("image"), Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() {
    return {Columns::kAbility, PartialRead::kAbility, Remarks::kAbility, ItemNames::kAbility};
  }
  static Example example() {
    return {.params = R"({"path": "large.pgm", "height": 2, "width": 2, "overlap": 1, "color": "grey"})",
            .files = {{"large.pgm", std::string("P5 4 3 255\nabcdefghijkl", 23)}},
            .inputs = {}};
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    if (wanted == ItemNames::kAbility) return static_cast<ItemNames*>(this);
    if (wanted == PartialRead::kAbility && !params_.masks) return static_cast<PartialRead*>(this);
    return wanted == Remarks::kAbility ? static_cast<Remarks*>(this) : nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    Spec fields{{"image", dtype(options_), {params_.height, params_.width, channels(options_.color)}}};
    if (params_.masks) fields.push_back({"mask", Dtype::kUint8, {params_.height, params_.width}});
    fields.push_back({"origin", Dtype::kInt64, {2}});
    fields.push_back({"number", Dtype::kInt64, {}});
    return fields;
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    find_files();
    measure();
    fingerprint_ = "tiles-2:overlap=" + std::to_string(params_.overlap);
    for (const FieldSpec& field : spec()) fingerprint_ += ":" + field.name + " " + to_string(field);
    fingerprint_ += (params_.orientation == Orientation::kApply ? ":upright:" : ":as stored:") + values_.fingerprint();
    fingerprint_ += ":" + datasets::hex(datasets::content_hash(std::as_bytes(std::span(extents_))));
    for (const uint64_t hash : folder_ ? hashes_of_folders() : hashes_of_files()) {
      fingerprint_ += ":" + datasets::hex(hash);
    }
  }

  [[nodiscard]] int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  [[nodiscard]] std::string_view partial_field() const noexcept override { return "image"; }
  [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (field != "number") return std::nullopt;
    std::vector<double> numbers;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      numbers.resize(static_cast<std::size_t>(ends_[i]), static_cast<double>(i));
    }
    return numbers;
  }

  void read(int64_t index, Sample& out) const override {
    read(
        index,
        [](const Extent& tile) {
          return Region{0, 0, tile.height, tile.width};
        },
        out);
  }
  void read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const override {
    read(index, choose, out);
  }

  [[nodiscard]] std::string item_name(int64_t index) const override {
    const auto [number, place] = tile(index);
    return image_path(number) + ", tile at column " + std::to_string(place.left) + ", row " + std::to_string(place.top);
  }

 private:
  /// The number of its image, and where in that it lies.
  [[nodiscard]] std::pair<std::size_t, Region> tile(int64_t index) const {
    const auto number = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
    const int64_t before = number == 0 ? 0 : ends_[number - 1];
    return {number, Grid(extents_[number], {params_.height, params_.width}, params_.overlap)[index - before]};
  }

  void read(int64_t index, const Choose& within, Sample& out) const {
    const std::pair<std::size_t, Region> found = tile(index);
    const std::size_t number = found.first;
    const Region& place = found.second;
    Region read;
    const Choose choose = [&](const Extent& whole) {
      if (whole != extents_[number]) throw Error(ErrorCode::kData, "has another size than when it was opened");
      const Region part = within({place.height, place.width});
      require_within(part, {place.height, place.width});
      read = {place.top + part.top, place.left + part.left, part.height, part.width};
      return read;
    };
    const std::string image = image_path(number);
    naming(image, [&] {
      const Allocate allocate = allocate_in(out, 0);
      kept_images_.read(
          number, image, [&](const Raster& raster) { hand_out(raster, options_, &choose, allocate); },
          [&](Bytes file) { decode_part(file, options_, choose, allocate); });
    });
    int field = 1;
    if (params_.masks) {
      const Choose same = [&](const Extent& whole) {
        if (whole != extents_[number]) {
          throw Error(ErrorCode::kData, "the mask has another size than its image " + image);
        }
        return read;
      };
      const std::string mask = mask_path(number);
      read_mask(mask, values_, image, {read.height, read.width}, out, field++, [&](const Allocate& allocate) {
        kept_masks_.read(
            number, mask, [&](const Raster& raster) { hand_out_mask(raster, params_.orientation, &same, allocate); },
            [](Bytes /*file*/) { refuse_lossy("JPEG"); });
      });
    }
    const std::span<int64_t> origin = out.allocate(field++, Dtype::kInt64, std::vector<int64_t>{2}).as<int64_t>();
    origin[0] = place.top;
    origin[1] = place.left;
    out.allocate(field, Dtype::kInt64, {}).as<int64_t>()[0] = static_cast<int64_t>(number);
  }

  [[nodiscard]] std::string image_path(std::size_t number) const {
    return folder_ ? path_of(params_.path, images_.files[pairs_[number].image]) : params_.path.string();
  }
  [[nodiscard]] std::string mask_path(std::size_t number) const {
    return folder_ ? path_of(*params_.masks, masks_.files[pairs_[number].mask]) : params_.masks->string();
  }

  void find_files() {
    std::error_code unreadable;  // what it is will be told by whoever opens the file
    folder_ = std::filesystem::is_directory(params_.path, unreadable);
    if (!folder_) {
      pairs_.push_back({});
      return;
    }
    walk_images(params_.path, "", extensions_, "/path", images_);
    if (images_.files.empty()) {
      throw Error(ErrorCode::kData, params_.path.string() + ": holds no images by their names", "/path");
    }
    remarks_ = remarks_of(images_, params_.path);
    if (params_.masks) {
      walk_images(*params_.masks, "", extensions_, "/masks", masks_);
      pairs_ = pair_masks({params_.path, images_, "/path", ""}, {*params_.masks, masks_, "/masks", ""}, remarks_);
      return;
    }
    for (std::size_t i = 0; i < images_.files.size(); ++i) pairs_.push_back({static_cast<uint32_t>(i), 0});
  }

  /// Of an image alone, and of its mask.
  [[nodiscard]] std::vector<uint64_t> hashes_of_files() const {
    std::vector<uint64_t> hashes{datasets::sampled_hash(datasets::MappedFile(params_.path, "/path").bytes())};
    if (params_.masks) {
      hashes.push_back(datasets::sampled_hash(datasets::MappedFile(*params_.masks, "/masks").bytes()));
    }
    return hashes;
  }

  [[nodiscard]] std::vector<uint64_t> hashes_of_folders() const {
    const auto image = [&](std::size_t i) { return images_.files[pairs_[i].image]; };
    const auto mask = [&](std::size_t i) { return masks_.files[pairs_[i].mask]; };
    std::vector<uint64_t> hashes{images_.files.hash(), masks_.files.hash(),
                                 hash_of_files(params_.path, pairs_.size(), image)};
    if (params_.masks) hashes.push_back(hash_of_files(*params_.masks, pairs_.size(), mask));
    return hashes;
  }

  /// Files are mapped, so that of each no more is read than what tells its size.
  [[nodiscard]] std::vector<Extent> sizes_of_images() const {
    std::vector<Extent> sizes(pairs_.size());
    datasets::share_out(sizes.size(), [&](std::size_t i) {
      const std::string path = image_path(i);
      const datasets::MappedFile file(path, "/path");
      sizes[i] = naming(path, [&] { return extent_of(file.bytes(), options_); });
    });
    return sizes;
  }

  void measure() {
    const std::vector<Extent> sizes = sizes_of_images();
    std::vector<Pair> kept;
    int64_t tiles = 0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Extent extent = sizes[i];
      if (extent.height < params_.height || extent.width < params_.width) {
        if (params_.smaller == Smaller::kSkip) continue;
        throw Error(ErrorCode::kData,
                    image_path(i) + ": is " + std::to_string(extent.height) + " high and " +
                        std::to_string(extent.width) +
                        " wide, smaller than a tile: give smaller tiles, or leave such images out with \"smaller\": "
                        "\"skip\"",
                    "/path");
      }
      tiles += Grid(extent, {params_.height, params_.width}, params_.overlap).size();
      kept.push_back(pairs_[i]);
      extents_.push_back(extent);
      ends_.push_back(tiles);
    }
    const std::size_t skipped = pairs_.size() - kept.size();
    if (kept.empty()) {
      throw Error(ErrorCode::kData, params_.path.string() + ": no image is as large as a tile", "/path");
    }
    if (skipped > 0) {
      remarks_.push_back(
          params_.path.string() + ": " + std::to_string(skipped) +
          (skipped == 1 ? " image is smaller than a tile and was" : " images are smaller than a tile and were") +
          " left out");
    }
    pairs_ = std::move(kept);
  }

  TilesParams params_;
  Extensions extensions_;
  MaskValues values_;
  DecodeOptions options_;
  bool folder_ = false;
  Found images_;
  Found masks_;
  std::vector<Pair> pairs_;
  std::vector<Extent> extents_;
  std::vector<int64_t> ends_;  // of the tiles of each image
  std::vector<std::string> remarks_;
  std::string fingerprint_;
  mutable KeptRasters kept_images_{false};
  mutable KeptRasters kept_masks_{true};
};

TENON_COMPONENT(Tiles, TilesParams, "tiles", "Tiles of one size that cover large images, with overlap")

}  // namespace tenon::image_datasets
