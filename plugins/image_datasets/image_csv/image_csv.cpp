// dataset:image_csv: a table with the file of an image in each row, and what is known of it.
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <csv/column.hpp>
#include <csv/problems.hpp>
#include <csv/rules.hpp>
#include <csv/table.hpp>
#include <files/content_hash.hpp>
#include <files/mapped_file.hpp>
#include <image_csv/class_column.hpp>
#include <image_csv/params.hpp>
#include <index/file_hash.hpp>
#include <index/image_file.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_datasets {
namespace {

using datasets::CsvField;
using datasets::CsvType;
using datasets::FieldColumn;

[[noreturn]] void refuse(const std::string& why, const std::string& pointer) {
  throw Error(ErrorCode::kConfig, why, pointer);
}

CsvType type_in_file(ImageCsvType type) {
  switch (type) {
    case ImageCsvType::kNumber: return CsvType::kNumber;
    case ImageCsvType::kInteger: return CsvType::kInteger;
    default: return CsvType::kText;
  }
}

void require_field(const ImageCsvField& field, const std::string& pointer) {
  const bool words = field.type == ImageCsvType::kText || field.type == ImageCsvType::kClass;
  datasets::require_one_way(field.column, field.columns, words, pointer);
  if (!field.classes) return;
  if (field.type != ImageCsvType::kClass) {
    refuse("classes are named for a field of type class alone", pointer + "/classes");
  }
  std::set<std::string> seen;
  for (const std::string& name : *field.classes) {
    if (!seen.insert(name).second) refuse(datasets::shown(name) + " is named twice", pointer + "/classes");
  }
}

}  // namespace

/// The table lies in memory from open() on; images are read when they are asked for.
class ImageCsv final : public Dataset,
                       public Columns,
                       public PartialRead,
                       public Remarks,
                       public Categorical,
                       public ItemNames {
 public:
  explicit ImageCsv(ImageCsvParams params) : params_(std::move(params)) {
    require_bits(params_.bits);
    options_ = {params_.color, params_.bits, params_.orientation};
    datasets::require_delimiter(params_.delimiter);
    std::set<std::string> names{"image"};
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const ImageCsvField& field = params_.fields[i];
      const std::string pointer = "/fields/" + std::to_string(i);
      if (!names.insert(field.name).second) {
        refuse(datasets::shown(field.name) + " is the name of another field already", pointer + "/name");
      }
      require_field(field, pointer);
      table_.fields.push_back({field.name, field.column, field.columns, type_in_file(field.type), field.dtype});
    }
    // Last, so that places of other fields are those of the parameters.
    table_.fields.push_back({"image", params_.image, {}, CsvType::kText, {}});
    table_.path = params_.path;
    table_.delimiter = params_.delimiter;
    table_.header = params_.header;
    table_.missing = params_.missing;
    for (const CsvField& field : table_.fields) columns_.emplace_back(field);
    classes_.resize(params_.fields.size());
  }

  static Ports ports() { return {{}, {Port::any("image"), Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() {
    return {Columns::kAbility, PartialRead::kAbility, Remarks::kAbility, Categorical::kAbility, ItemNames::kAbility};
  }
  static Example example() {
    const std::string image("P5 2 2 255\nabcd", 15);
    return {.params = R"({"path": "table.csv", "image": "file",
                          "fields": [{"name": "label", "column": "kind", "type": "class"}, {"name": "size"}],
                          "missing": "skip"})",
            .files = {{"table.csv", "file,kind,size\nimages/a.pgm,cat,1.5\nimages/b.pgm,dog,2\n,cat,3\n"},
                      {"images/a.pgm", image},
                      {"images/b.pgm", image}},
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
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      if (is_class(i)) {
        fields.push_back({params_.fields[i].name, Dtype::kInt64, {}});
      } else {
        fields.push_back(columns_[i].spec());
      }
    }
    return fields;
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) refuse("reads files and takes no input: remove \"in\"", "");
    load();
    const std::string file = params_.path.string();
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      if (!is_class(i)) continue;
      try {
        classes_[i] = class_column(columns_[i], rows_.kept, params_.fields[i].classes,
                                   "/fields/" + std::to_string(i) + "/classes");
      } catch (const Error& error) {
        throw Error(error.code(), file + ": " + error.what(), error.pointer());
      }
      columns_[i] = FieldColumn(table_.fields[i]);  // its texts are not needed any more
    }
    require_first_image();
    const uint64_t content = hash_of_files(root(), static_cast<std::size_t>(rows_.kept), [&](std::size_t row) {
      return text_at(columns_.back(), static_cast<int64_t>(row));
    });
    fingerprint_ = "image_csv-2:" + std::to_string(rows_.kept) + ":" + to_string(spec().front()) +
                   (params_.orientation == Orientation::kApply ? ":upright" : ":as stored") + ":" +
                   datasets::hex(columns_.back().hash()) + ":" + datasets::hex(content);
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const uint64_t hash =
          is_class(i) ? datasets::content_hash(std::as_bytes(std::span(classes_[i].numbers))) : columns_[i].hash();
      fingerprint_ += ":" + params_.fields[i].name + " " + to_string(spec()[i + 1]) + "=" + datasets::hex(hash);
    }
  }

  [[nodiscard]] int64_t size() const override { return rows_.kept; }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  [[nodiscard]] std::string_view partial_field() const noexcept override { return "image"; }

  [[nodiscard]] std::vector<std::string> remarks() const override { return datasets::left_out(params_.path, rows_); }
  [[nodiscard]] std::string item_name(int64_t index) const override { return image_path(index); }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      if (params_.fields[i].name != field) continue;
      if (!is_class(i)) return columns_[i].numbers();
      return std::vector<double>(classes_[i].numbers.begin(), classes_[i].numbers.end());
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::vector<std::string>> categories(std::string_view field) const override {
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      if (params_.fields[i].name == field && is_class(i)) return classes_[i].names;
    }
    return std::nullopt;
  }

  void read(int64_t index, Sample& out) const override { read(index, nullptr, out); }
  void read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const override {
    read(index, &choose, out);
  }

 private:
  void read(int64_t index, const Choose* choose, Sample& out) const {
    read_image(image_path(index), options_, choose, out, 0);
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const int field = static_cast<int>(i) + 1;
      if (is_class(i)) {
        out.allocate(field, Dtype::kInt64, {}).as<int64_t>()[0] = classes_[i].numbers[static_cast<std::size_t>(index)];
      } else {
        columns_[i].read(index, field, out);
      }
    }
  }

  [[nodiscard]] bool is_class(std::size_t field) const { return params_.fields[field].type == ImageCsvType::kClass; }

  [[nodiscard]] std::filesystem::path root() const { return params_.root.value_or(params_.path.parent_path()); }

  /// An absolute name replaces the root.
  [[nodiscard]] std::string image_path(int64_t row) const { return (root() / text_at(columns_.back(), row)).string(); }

  void load() {
    const datasets::MappedFile file(params_.path, "/path");
    try {
      rows_ = datasets::load_csv(file.text(), table_, columns_);
    } catch (const Error& error) {
      const bool of_image = error.pointer().starts_with("/fields/" + std::to_string(params_.fields.size()));
      throw Error(error.code(), error.what(), of_image ? "/image" : error.pointer());
    }
  }

  /// Files are not looked for one by one, but a wrong root is told at once.
  void require_first_image() const {
    const std::string path = image_path(0);
    std::error_code unreadable;
    if (std::filesystem::exists(path, unreadable)) return;
    throw Error(ErrorCode::kData,
                path + ": is not there, though the first row of " + params_.path.string() +
                    " names it: \"root\" is the folder from which names of images count",
                "/root");
  }

  ImageCsvParams params_;
  DecodeOptions options_;
  datasets::CsvParams table_;
  std::vector<FieldColumn> columns_;  // of the fields, then of the images' names
  std::vector<ClassColumn> classes_;  // of the fields that are classes
  datasets::CsvRows rows_;
  std::string fingerprint_;
};

TENON_COMPONENT(ImageCsv, ImageCsvParams, "image_csv",
                "Images named by a table of comma-separated text, with columns of it as labels")

}  // namespace tenon::image_datasets
