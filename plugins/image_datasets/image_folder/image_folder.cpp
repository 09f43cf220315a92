// dataset:image_folder: a folder of images for each class, or one of images alone.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <decode/fields.hpp>
#include <files/content_hash.hpp>
#include <index/file_hash.hpp>
#include <index/folder_walk.hpp>
#include <index/image_file.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_datasets {

struct ImageFolderParams {
  std::filesystem::path path;
  bool labels = true;
  std::optional<std::vector<std::string>> classes;
  std::vector<std::string> extensions = usual_extensions();
  Color color = Color::kRgb;
  int64_t bits = 8;
  Orientation orientation = Orientation::kApply;

  TENON_PARAMS(
      ImageFolderParams,
      field(
          &ImageFolderParams::path, "path",
          "Folder that holds a folder for each class, with images in it and in folders below; names that begin with a "
          "point are passed over")
          .required(),
      field(&ImageFolderParams::labels, "labels",
            "Whether the folders are classes; false reads all images of the folder, in the order of their names, "
            "without the field label"),
      field(&ImageFolderParams::classes, "classes",
            "Names of the classes in the order of their numbers, so that all parts of a dataset count alike; \"auto\" "
            "takes the names of the folders, sorted by their bytes")
          .min_items(1),
      extensions_field<ImageFolderParams>(), color_field<ImageFolderParams>(), bits_field<ImageFolderParams>(),
      orientation_field<ImageFolderParams>())
};

namespace {

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    list.append(i == 0 ? "\"" : ", \"").append(names[i]).append("\"");
  }
  return names.size() > kMost ? list + " and " + std::to_string(names.size() - kMost) + " more" : list;
}

}  // namespace

/// The index lies in memory, one block of names; images are read when they are asked for.
class ImageFolder final : public Dataset,
                          public Columns,
                          public PartialRead,
                          public Remarks,
                          public Categorical,
                          public ItemNames {
 public:
  explicit ImageFolder(ImageFolderParams params) : params_(std::move(params)), extensions_(params_.extensions) {
    require_bits(params_.bits);
    options_ = {params_.color, params_.bits, params_.orientation};
    if (!params_.labels && params_.classes) {
      throw Error(ErrorCode::kConfig, "without labels there are no classes: give one of the two", "/classes");
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; params_.classes && i < params_.classes->size(); ++i) {
      if (seen.insert((*params_.classes)[i]).second) continue;
      throw Error(ErrorCode::kConfig, "\"" + (*params_.classes)[i] + "\" is named twice",
                  "/classes/" + std::to_string(i));
    }
  }

  static Ports ports() { return {{}, {Port::any("image"), Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() {
    return {Columns::kAbility, PartialRead::kAbility, Remarks::kAbility, Categorical::kAbility, ItemNames::kAbility};
  }
  static Example example() {
    const std::string image("P6 2 2 255\n\1\2\3\4\5\6\7\10\11\12\13\14", 23);
    return {.params = R"({"path": "images"})",
            .files = {{"images/cat/a.ppm", image}, {"images/dog/b.ppm", image}, {"images/dog/c.ppm", image}},
            .inputs = {}};
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    if (wanted == ItemNames::kAbility) return static_cast<ItemNames*>(this);
    if (wanted == PartialRead::kAbility) return static_cast<PartialRead*>(this);
    if (wanted == Categorical::kAbility) return static_cast<Categorical*>(this);
    return wanted == Remarks::kAbility ? static_cast<Remarks*>(this) : nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    Spec fields{image_field("image", options_)};
    if (params_.labels) fields.push_back({"label", Dtype::kInt64, {}});
    return fields;
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    if (params_.labels) {
      find_classes();
    } else {
      walk_images(params_.path, "", extensions_, "/path", found_);
      if (found_.files.empty()) fail("holds no images" + what_there_is());
      remarks_ = remarks_of(found_, params_.path);
    }
    found_.files.shrink();
    fingerprint_ = "image_folder-2";
    for (const FieldSpec& field : spec()) fingerprint_.append(":").append(to_string(field));
    fingerprint_ += params_.orientation == Orientation::kApply ? ":upright" : ":as stored";
    const uint64_t content =
        hash_of_files(params_.path, found_.files.size(), [&](std::size_t i) { return found_.files[i]; });
    fingerprint_ += ":" + datasets::hex(found_.files.hash()) + ":" + datasets::hex(content) + ":" +
                    datasets::hex(datasets::content_hash(std::as_bytes(std::span(ends_))));
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(found_.files.size()); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  [[nodiscard]] std::string_view partial_field() const noexcept override { return "image"; }
  [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }
  [[nodiscard]] std::string item_name(int64_t index) const override {
    return path_of(params_.path, found_.files[static_cast<std::size_t>(index)]);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (field != "label" || !params_.labels) return std::nullopt;
    std::vector<double> labels;
    labels.reserve(found_.files.size());
    for (std::size_t i = 0; i < ends_.size(); ++i) labels.resize(ends_[i], static_cast<double>(i));
    return labels;
  }

  [[nodiscard]] std::optional<std::vector<std::string>> categories(std::string_view field) const override {
    if (field != "label" || !params_.labels) return std::nullopt;
    return classes_;
  }

  void read(int64_t index, Sample& out) const override { read(index, nullptr, out); }
  void read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const override {
    read(index, &choose, out);
  }

 private:
  void read(int64_t index, const Choose* choose, Sample& out) const {
    const auto item = static_cast<std::size_t>(index);
    read_image(item_name(index), options_, choose, out, 0);
    if (!params_.labels) return;
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), item);
    out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = found - ends_.begin();
  }

  [[noreturn]] void fail(const std::string& why, const std::string& pointer = "/path") const {
    throw Error(ErrorCode::kData, params_.path.string() + ": " + why, pointer);
  }

  /// Files that were passed over, as a hint.
  [[nodiscard]] std::string what_there_is() const {
    if (found_.others == 0 && found_.specials.count > 0) {
      return ", but pipes, sockets or devices, such as \"" + found_.specials.one + "\"";
    }
    if (found_.others == 0) return "";
    return ", but " + std::to_string(found_.others) + " other files, such as \"" + found_.other +
           "\": do \"extensions\" name theirs?";
  }

  void find_classes() {
    const Listing listing = list_folder(params_.path, "/path");
    for (const std::string& name : listing.specials) found_.specials.add(name);
    const int64_t loose = std::count_if(listing.files.begin(), listing.files.end(),
                                        [&](const std::string& name) { return extensions_.match(name); });
    const auto images = [&] { return std::to_string(loose) + (loose == 1 ? " image" : " images"); };
    if (listing.folders.empty()) {
      fail(loose == 0
               ? "holds no folder of a class and no image"
               : "holds " + images() + ", but no folder of a class: \"labels\": false reads them without labels");
    }
    classes_ = params_.classes.value_or(listing.folders);
    require_known(listing.folders);
    std::vector<std::string> empty;
    for (const std::string& name : classes_) {
      const std::size_t before = found_.files.size();
      if (std::binary_search(listing.folders.begin(), listing.folders.end(), name)) {
        walk_images(params_.path, name, extensions_, "/path", found_);
      }
      if (found_.files.size() == before) empty.push_back(name);
      ends_.push_back(found_.files.size());
    }
    if (found_.files.empty()) fail("its folders hold no images" + what_there_is());
    remarks_ = remarks_of(found_, params_.path);
    if (loose > 0) {
      remarks_.push_back(params_.path.string() + ": " + images() + (loose == 1 ? " lies" : " lie") +
                         " beside the folders of classes and " + (loose == 1 ? "was" : "were") + " left out");
    }
    tell_empty(empty);
  }

  void require_known(const std::vector<std::string>& folders) const {
    const std::set<std::string> known(classes_.begin(), classes_.end());
    std::vector<std::string> unknown;
    for (const std::string& folder : folders) {
      if (!known.contains(folder)) unknown.push_back(folder);
    }
    if (unknown.empty()) return;
    fail("holds " + std::to_string(unknown.size()) + (unknown.size() == 1 ? " folder" : " folders") +
             " that \"classes\" does not name: " + quoted_list(unknown),
         "/classes");
  }

  /// With classes from a list a part of a dataset may lack some; else an empty folder is rather a mistake.
  void tell_empty(const std::vector<std::string>& empty) {
    if (empty.empty()) return;
    const std::string which = std::to_string(empty.size()) + (empty.size() == 1 ? " class has" : " classes have") +
                              " no images: " + quoted_list(empty);
    if (!params_.classes) {
      fail(which + "; remove such folders, or name the classes that count in \"classes\"" +
           (found_.others == 0 ? "" : "; other files were found, such as \"" + found_.other + "\"") +
           (found_.loops.count == 0 ? ""
                                    : "; \"" + found_.loops.one + "\" is a link that leads back to a folder above it"));
    }
    remarks_.push_back(params_.path.string() + ": " + which);
  }

  ImageFolderParams params_;
  Extensions extensions_;
  DecodeOptions options_;
  Found found_;
  std::vector<std::string> classes_;
  std::vector<std::size_t> ends_;  // of the classes, in the files
  std::vector<std::string> remarks_;
  std::string fingerprint_;
};

TENON_COMPONENT(ImageFolder, ImageFolderParams, "image_folder",
                "Images in a folder for each class, or in one folder without classes")

}  // namespace tenon::image_datasets
