// dataset:idx: images and labels of MNIST's format.
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <files/numbers.hpp>
#include <idx/idx_file.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

enum class IdxType { kUint8, kInt8, kInt16, kInt32, kFloat32, kFloat64 };
TENON_ENUM(IdxType, "uint8", "int8", "int16", "int32", "float32", "float64")

struct IdxParams {
  std::filesystem::path images;
  std::optional<std::filesystem::path> labels;
  std::vector<int64_t> shape;
  IdxType dtype = IdxType::kUint8;
  std::string image_field = "image";
  std::string label_field = "label";

  TENON_PARAMS(
      IdxParams,
      field(&IdxParams::images, "images",
            "File of the images, such as train-images-idx3-ubyte, plain or packed by gzip: its first bytes "
            "tell, not its name")
          .required(),
      field(&IdxParams::labels, "labels",
            "File of the labels, one integer an image, likewise; \"none\" leaves out the field")
          .word("none"),
      field(&IdxParams::shape, "shape",
            "Shape of one image, such as [1, 28, 28] for the 28 x 28 numbers of MNIST: any with as many numbers")
          .min(1)
          .required(),
      field(&IdxParams::dtype, "dtype", "Type of the numbers in the file of the images"),
      field(&IdxParams::image_field, "image_field", "Name of the field of images"),
      field(&IdxParams::label_field, "label_field", "Name of the field of labels, int64"))
};

namespace {

std::string text(const Shape& shape) { return to_string(std::vector<Dim>(shape.begin(), shape.end())); }

int64_t label_at(const IdxFile& file, std::size_t index) {
  const auto number = [&]<class T>(T value) {
    std::memcpy(&value, file.data.data() + index * sizeof(T), sizeof(T));
    return static_cast<int64_t>(value);
  };
  switch (file.dtype) {
    case Dtype::kUint8: return number(uint8_t{});
    case Dtype::kInt8: return number(int8_t{});
    case Dtype::kInt16: return number(int16_t{});
    default: return number(int32_t{});
  }
}

}  // namespace

/// Everything lies in memory from open() on.
class Idx final : public Dataset, public InMemory, public Columns {
 public:
  explicit Idx(IdxParams params)
      : params_(std::move(params)),
        dtype_(dtype_of(tenon_enum_names(params_.dtype).names[static_cast<std::size_t>(params_.dtype)]).value()) {
    if (params_.labels && params_.image_field == params_.label_field) {
      throw Error(ErrorCode::kConfig, "\"" + params_.label_field + "\" is the name of the images already",
                  "/label_field");
    }
    auto bytes = static_cast<int64_t>(size_of(dtype_));
    for (const int64_t axis : params_.shape) {
      if (__builtin_mul_overflow(bytes, axis, &bytes)) {
        throw Error(ErrorCode::kConfig, "an image would have more than 2^63 bytes", "/shape");
      }
    }
    item_bytes_ = static_cast<std::size_t>(bytes);
  }

  static Ports ports() { return {{}, {Port::any("$image_field"), Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {InMemory::kAbility, Columns::kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    return nullptr;
  }

  static Example example() {
    const std::string bytes("\0\0\x08", 3);  // two zeros and uint8, then the number of axes and each size in four bytes
    return {.params = R"({"images": "images.idx", "labels": "labels.idx", "shape": [1, 2, 2]})",
            .files = {{"images.idx", bytes + std::string("\3\0\0\0\3\0\0\0\2\0\0\0\2abcdefghijkl", 25)},
                      {"labels.idx", bytes + std::string("\1\0\0\0\3\2\0\1", 8)}},
            .inputs = {}};
  }

  [[nodiscard]] Spec spec() const override {
    Spec fields{{params_.image_field, dtype_, {params_.shape.begin(), params_.shape.end()}}};
    if (params_.labels) fields.push_back({params_.label_field, Dtype::kInt64, {}});
    return fields;
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    images_ = read_idx(params_.images, "/images");
    check_images();
    if (params_.labels) read_labels();
    fingerprint_ = "idx-1";
    for (const FieldSpec& field : spec())
      fingerprint_.append(":").append(field.name).append(" ").append(to_string(field));
    fingerprint_.append(":").append(hex(content_hash(images_.data)));
    fingerprint_.append(":").append(hex(content_hash(std::as_bytes(std::span(labels_)))));
  }

  [[nodiscard]] int64_t size() const override { return images_.shape.empty() ? 0 : images_.items(); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }

  void read(int64_t index, Sample& out) const override {
    const auto item = static_cast<std::size_t>(index);
    std::memcpy(out.allocate(0, dtype_, params_.shape).data, images_.data.data() + item * item_bytes_, item_bytes_);
    if (params_.labels) out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = labels_.at(item);
  }

  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    const auto item = static_cast<std::size_t>(index);
    fields[0] = images_.data.data() + item * item_bytes_;
    if (params_.labels) fields[1] = reinterpret_cast<const std::byte*>(labels_.data() + item);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (params_.labels && field == params_.label_field) return std::vector<double>(labels_.begin(), labels_.end());
    if (field != params_.image_field || !params_.shape.empty()) return std::nullopt;
    std::vector<double> numbers;
    for (std::size_t i = 0; i < images_.data.size(); i += item_bytes_) {
      numbers.push_back(number_at(images_.data.data() + i, dtype_));
    }
    return numbers;
  }

 private:
  void check_images() const {
    const std::string file = params_.images.string() + ": ";
    if (images_.dtype != dtype_) {
      const std::string found(name_of(images_.dtype));
      throw Error(
          ErrorCode::kData,
          file + "holds " + found + ", not " + std::string(name_of(dtype_)) + ": give \"dtype\": \"" + found + "\"",
          "/dtype");
    }
    Shape item = images_.item_shape();
    if (item.empty() && !params_.shape.empty()) {
      throw Error(ErrorCode::kData,
                  file + "holds " + std::to_string(images_.items()) + " single numbers, as labels are, and no images" +
                      (params_.labels ? ": have \"images\" and \"labels\" been exchanged?" : ""),
                  "/images");
    }
    if (elements(item) != elements(params_.shape)) {
      const std::string holds = text(item) + ", " + std::to_string(elements(item)) + " numbers each";
      if (item.size() == 2) item.insert(item.begin(), 1);  // channels first, as models of images want it
      throw Error(ErrorCode::kData,
                  file + "holds images of " + holds + ", but " + text(params_.shape) + " has " +
                      std::to_string(elements(params_.shape)) + ": give \"shape\": " + text(item),
                  "/shape");
    }
    if (images_.items() == 0) throw Error(ErrorCode::kData, file + "holds no images", "/images");
  }

  void read_labels() {
    const IdxFile file = read_idx(*params_.labels, "/labels");
    const std::string name = params_.labels->string() + ": ";
    if (file.shape.size() != 1 || file.dtype == Dtype::kFloat32 || file.dtype == Dtype::kFloat64) {
      throw Error(ErrorCode::kData,
                  name + "holds " + to_string({{}, file.dtype, {file.shape.begin(), file.shape.end()}}) +
                      ", but labels are one integer an image",
                  "/labels");
    }
    if (file.items() != images_.items()) {
      throw Error(ErrorCode::kData,
                  name + "holds " + std::to_string(file.items()) + " labels, but " + params_.images.string() + " " +
                      std::to_string(images_.items()) + " images: they belong to different sets",
                  "/labels");
    }
    labels_.resize(static_cast<std::size_t>(file.items()));
    for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i] = label_at(file, i);
  }

  IdxParams params_;
  Dtype dtype_;
  std::size_t item_bytes_ = 0;
  IdxFile images_;
  std::vector<int64_t> labels_;
  std::string fingerprint_;
};

TENON_COMPONENT(Idx, IdxParams, "idx", "Images and labels of MNIST's file format idx, plain or packed by gzip")

}  // namespace tenon::datasets
