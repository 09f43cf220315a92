// dataset:cifar: CIFAR-10 and CIFAR-100 in their binary version (Krizhevsky,
// https://www.cs.toronto.edu/~kriz/cifar.html).
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <files/mapped_file.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_datasets {

enum class CifarVariant { kCifar10, kCifar100 };
TENON_ENUM(CifarVariant, "cifar10", "cifar100")

enum class CifarSplit { kTrain, kTest };
TENON_ENUM(CifarSplit, "train", "test")

enum class CifarLayout { kChannelsLast, kChannelsFirst };
TENON_ENUM(CifarLayout, "channels_last", "channels_first")

struct CifarParams {
  std::filesystem::path path;
  CifarVariant variant = CifarVariant::kCifar10;
  CifarSplit split = CifarSplit::kTrain;
  CifarLayout layout = CifarLayout::kChannelsLast;

  TENON_PARAMS(
      CifarParams,
      field(&CifarParams::path, "path",
            "Folder of the unpacked binary version, with data_batch_1.bin to data_batch_5.bin and test_batch.bin, or "
            "with train.bin and test.bin; lists of names beside them, such as batches.meta.txt, name the classes")
          .required(),
      field(&CifarParams::variant, "variant",
            "cifar10, with the field label; cifar100, with label for the 100 classes and coarse_label for the 20"),
      field(&CifarParams::split, "split", "Which of the parts that the files make: train or test"),
      field(&CifarParams::layout, "layout",
            "channels_last: [32, 32, 3], as image transforms want it; channels_first: [3, 32, 32], as in the file"))
};

namespace {

constexpr std::size_t kPixels = std::size_t{32} * 32;
constexpr std::size_t kImage = 3 * kPixels;

constexpr int64_t kClasses10 = 10;
constexpr int64_t kClasses100 = 100;
constexpr int64_t kCoarseClasses = 20;

void interleave(const std::byte* planes, std::byte* pixels) noexcept {
  for (std::size_t i = 0; i < kPixels; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) pixels[3 * i + channel] = planes[channel * kPixels + i];
  }
}

/// The names in a file, one a line, of so many classes; none where there is no such file.
std::vector<std::string> names_from(const std::filesystem::path& path, int64_t classes) {
  std::error_code unknown;  // what it is will be told by whoever opens the file
  if (std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found) return {};
  const datasets::MappedFile file(path, "/path");
  std::istringstream text(std::string(file.text()));
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  if (static_cast<int64_t>(names.size()) != classes) {
    throw Error(ErrorCode::kData,
                path.string() + ": holds " + std::to_string(names.size()) + " names, one a line, but there are " +
                    std::to_string(classes) + " classes: put it right, or remove it, and classes have no names",
                "/path");
  }
  return names;
}

}  // namespace

/// Everything lies in memory from open() on: images in the layout that is wanted, labels as int64.
class Cifar final : public Dataset, public InMemory, public Columns, public Categorical {
 public:
  explicit Cifar(CifarParams params) : params_(std::move(params)) {}

  static Ports ports() {
    return {{}, {Port::any("image", {Dtype::kUint8}), Port::of("label", {Dtype::kInt64}, {}), Port::known_later()}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {InMemory::kAbility, Columns::kAbility, Categorical::kAbility}; }
  static Example example() {
    std::string record(1 + kImage, '\x40');
    record.front() = '\7';
    return {
        .params = R"({"path": "cifar", "split": "test"})", .files = {{"cifar/test_batch.bin", record}}, .inputs = {}};
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    if (wanted == Categorical::kAbility) return static_cast<Categorical*>(this);
    return wanted == Columns::kAbility ? static_cast<Columns*>(this) : nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    Spec fields{{"image", Dtype::kUint8, {32, 32, 3}}, {"label", Dtype::kInt64, {}}};
    if (!channels_last()) fields[0].shape = {3, 32, 32};
    if (fine()) fields.push_back({"coarse_label", Dtype::kInt64, {}});
    return fields;
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    for (const std::string& name : files()) load(params_.path / name);
    names_ = fine() ? names_from(params_.path / "fine_label_names.txt", kClasses100)
                    : names_from(params_.path / "batches.meta.txt", kClasses10);
    if (fine()) coarse_names_ = names_from(params_.path / "coarse_label_names.txt", kCoarseClasses);
    fingerprint_ = "cifar-1";
    for (const FieldSpec& field : spec()) fingerprint_.append(":").append(to_string(field));
    for (const std::span<const std::byte> part :
         {std::span<const std::byte>(images_), std::as_bytes(std::span(labels_)), std::as_bytes(std::span(coarse_))}) {
      fingerprint_.append(":").append(datasets::hex(datasets::content_hash(part)));
    }
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }

  void read(int64_t index, Sample& out) const override {
    const auto item = static_cast<std::size_t>(index);
    const std::vector<int64_t> shape =
        channels_last() ? std::vector<int64_t>{32, 32, 3} : std::vector<int64_t>{3, 32, 32};
    std::memcpy(out.allocate(0, Dtype::kUint8, shape).data, images_.data() + item * kImage, kImage);
    out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = labels_[item];
    if (fine()) out.allocate(2, Dtype::kInt64, {}).as<int64_t>()[0] = coarse_[item];
  }

  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    const auto item = static_cast<std::size_t>(index);
    fields[0] = images_.data() + item * kImage;
    fields[1] = reinterpret_cast<const std::byte*>(labels_.data() + item);
    if (fine()) fields[2] = reinterpret_cast<const std::byte*>(coarse_.data() + item);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (field == "label") return std::vector<double>(labels_.begin(), labels_.end());
    if (field == "coarse_label" && fine()) return std::vector<double>(coarse_.begin(), coarse_.end());
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::vector<std::string>> categories(std::string_view field) const override {
    if (field == "label" && !names_.empty()) return names_;
    if (field == "coarse_label" && !coarse_names_.empty()) return coarse_names_;
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool channels_last() const noexcept { return params_.layout == CifarLayout::kChannelsLast; }
  [[nodiscard]] bool fine() const noexcept { return params_.variant == CifarVariant::kCifar100; }

  [[nodiscard]] std::vector<std::string> files() const {
    const bool train = params_.split == CifarSplit::kTrain;
    if (fine()) return {train ? "train.bin" : "test.bin"};
    if (!train) return {"test_batch.bin"};
    std::vector<std::string> names;
    for (const char* const number : {"1", "2", "3", "4", "5"}) {
      names.push_back(std::string("data_batch_").append(number).append(".bin"));
    }
    return names;
  }

  /// Appends a file of records: labels of a byte each, then the image, plane by plane.
  void load(const std::filesystem::path& path) {
    const datasets::MappedFile file(path, "/path");
    const std::span<const std::byte> bytes = file.bytes();
    const std::size_t heads = fine() ? 2 : 1;
    const std::size_t record = heads + kImage;
    if (bytes.empty() || bytes.size() % record != 0) {
      const std::size_t other = record == kImage + 1 ? record + 1 : record - 1;
      throw Error(ErrorCode::kData,
                  path.string() + ": has " + std::to_string(bytes.size()) + " bytes, but whole records of " +
                      std::to_string(record) + " are wanted: is it cut off" +
                      (bytes.size() % other == 0 && !bytes.empty() ? ", or of the other variant?" : "?"),
                  "/path");
    }
    const std::size_t count = bytes.size() / record;
    const std::size_t before = labels_.size();
    images_.resize((before + count) * kImage);
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const from = bytes.data() + i * record;
      if (fine()) coarse_.push_back(label(path, i, from[0], kCoarseClasses));
      labels_.push_back(label(path, i, from[heads - 1], fine() ? kClasses100 : kClasses10));
      std::byte* const to = images_.data() + (before + i) * kImage;
      if (channels_last()) {
        interleave(from + heads, to);
      } else {
        std::memcpy(to, from + heads, kImage);
      }
    }
  }

  [[nodiscard]] static int64_t label(const std::filesystem::path& path, std::size_t record, std::byte value,
                                     int64_t classes) {
    const auto number = std::to_integer<int64_t>(value);
    if (number < classes) return number;
    throw Error(ErrorCode::kData,
                path.string() + ": record " + std::to_string(record) + " has the label " + std::to_string(number) +
                    ", but there are " + std::to_string(classes) + " classes: is it damaged, or of the other variant?",
                "/path");
  }

  CifarParams params_;
  std::vector<std::byte> images_;
  std::vector<int64_t> labels_;
  std::vector<int64_t> coarse_;
  std::vector<std::string> names_;  // of the classes; empty where no file tells them
  std::vector<std::string> coarse_names_;
  std::string fingerprint_;
};

TENON_COMPONENT(Cifar, CifarParams, "cifar", "CIFAR-10 and CIFAR-100 from the files of their binary version")

}  // namespace tenon::image_datasets
