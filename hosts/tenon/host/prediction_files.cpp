// Writing rows.
#include <host/prediction_files.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/scalars.hpp>
#include <core/storage/atomic_file.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/elements.hpp>
#include <core/storage/file.hpp>
#include <host/json_text.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

/// Text that goes to standard output, or to a file that gets its name at the end.
class TextOut {
 public:
  TextOut(std::optional<fs::path> file, Console& console) : console_(console) {
    if (file) file_.emplace(*file, core::kOutOption);
  }

  void write(const std::string& text) {
    if (file_) {
      file_->write(std::as_bytes(std::span<const char>(text)));
    } else {
      console_.print(text);
    }
  }

  void finish() {
    if (file_) file_->commit();
  }

 private:
  Console& console_;
  std::optional<core::AtomicFile> file_;
};

/// Elements of one row of a column.
std::size_t width_of(const engine::PredictedColumn& column) {
  std::size_t count = 1;
  for (const Dim& dim : column.field.shape) count *= static_cast<std::size_t>(dim.size);
  return count;
}

/// The text that stands for an element, or nullptr.
const std::string* category_of(const engine::PredictedColumn& column, const Array& array, int64_t at) {
  if (!column.names_values) return nullptr;
  const double number = core::element_value(array, at);
  if (!(number >= 0 && number < static_cast<double>(column.categories.size()))) return nullptr;
  return &column.categories[static_cast<std::size_t>(number)];
}

/// The classes name the elements of the last axis, which is the only one.
bool names_elements(const engine::PredictedColumn& column) {
  return !column.names_values && !column.categories.empty() && column.field.shape.size() == 1 &&
         column.categories.size() == width_of(column);
}

/// As JSON has it: a number that is not finite becomes a text.
std::string json_text(const engine::PredictedColumn& column, const Array& array, int64_t at) {
  const std::string* const category = category_of(column, array, at);
  if (category != nullptr) return compact(*category);
  const double number = core::element_value(array, at);
  return std::isfinite(number) ? core::element_text(array, at) : compact(core::number_json(number));
}

class JsonLines final : public PredictionFile {
 public:
  JsonLines(std::optional<fs::path> file, Console& console) : out_(std::move(file), console) {}

  void begin(const std::vector<engine::PredictedColumn>& columns, int64_t /*rows*/, bool /*named*/) override {
    columns_ = columns;
  }

  void take(std::span<const int64_t> samples, std::span<const std::string> names,
            std::span<const Array> columns) override {
    std::string text;
    for (std::size_t row = 0; row < samples.size(); ++row) {
      text += fmt::format("{{\"index\":{}", samples[row]);
      if (!names.empty()) text += fmt::format(",\"item\":{}", compact(core::as_utf8(names[row])));
      for (std::size_t i = 0; i < columns.size(); ++i) {
        text += fmt::format(",{}:{}", compact(columns_[i].field.name), value(columns_[i], columns[i], row));
      }
      text += "}\n";
    }
    out_.write(text);
  }

  void finish() override { out_.finish(); }

 private:
  /// Text, so that float32 keeps the few digits that it has.
  static std::string value(const engine::PredictedColumn& column, const Array& array, std::size_t row) {
    auto at = static_cast<int64_t>(row * width_of(column));
    if (!names_elements(column)) return nested(column, array, 0, at);
    std::vector<std::string> members;
    for (const std::string& category : column.categories) {
      members.push_back(fmt::format("{}:{}", compact(category), json_text(column, array, at++)));
    }
    return fmt::format("{{{}}}", fmt::join(members, ","));
  }

  /// Lists within lists, as the shape says.
  static std::string nested(const engine::PredictedColumn& column, const Array& array, std::size_t axis, int64_t& at) {
    if (axis == column.field.shape.size()) return json_text(column, array, at++);
    std::vector<std::string> list;
    for (int64_t i = 0; i < column.field.shape[axis].size; ++i) list.push_back(nested(column, array, axis + 1, at));
    return fmt::format("[{}]", fmt::join(list, ","));
  }

  TextOut out_;
  std::vector<engine::PredictedColumn> columns_;
};

/// RFC 4180: quoted where it must be.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

class Csv final : public PredictionFile {
 public:
  Csv(std::optional<fs::path> file, Console& console) : out_(std::move(file), console) {}

  void begin(const std::vector<engine::PredictedColumn>& columns, int64_t /*rows*/, bool named) override {
    columns_ = columns;
    std::vector<std::string> header{"index"};
    if (named) header.emplace_back("item");
    for (const engine::PredictedColumn& column : columns) {
      const std::size_t width = width_of(column);
      for (std::size_t i = 0; i < width; ++i) {
        const std::string& name = column.field.name;
        const std::string part = names_elements(column) ? column.categories[i] : fmt::format("{}", i);
        header.push_back(csv_cell(width == 1 ? name : fmt::format("{}.{}", name, part)));
      }
    }
    out_.write(fmt::format("{}\n", fmt::join(header, ",")));
  }

  void take(std::span<const int64_t> samples, std::span<const std::string> names,
            std::span<const Array> columns) override {
    std::string text;
    for (std::size_t row = 0; row < samples.size(); ++row) {
      text += fmt::format("{}", samples[row]);
      if (!names.empty()) text += ',' + csv_cell(core::as_utf8(names[row]));
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto width = static_cast<int64_t>(width_of(columns_[i]));
        const auto first = static_cast<int64_t>(row) * width;
        for (int64_t at = first; at < first + width; ++at) {
          const std::string* const category = category_of(columns_[i], columns[i], at);
          text += ',';
          text += category == nullptr ? core::element_text(columns[i], at) : csv_cell(*category);
        }
      }
      text += '\n';
    }
    out_.write(text);
  }

  void finish() override { out_.finish(); }

 private:
  TextOut out_;
  std::vector<engine::PredictedColumn> columns_;
};

/// Type codes of numpy's format.
std::string npy_descriptor(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16: return "<f2";
    case Dtype::kFloat32: return "<f4";
    case Dtype::kFloat64: return "<f8";
    case Dtype::kInt8: return "|i1";
    case Dtype::kInt16: return "<i2";
    case Dtype::kInt32: return "<i4";
    case Dtype::kInt64: return "<i8";
    case Dtype::kUint8: return "|u1";
    case Dtype::kBool: return "|b1";
    default: throw Error(ErrorCode::kConfig, fmt::format("numpy has no element type {}", name_of(dtype)));
  }
}

/// Format 1.0 of numpy.lib.format: magic, version, length, a dictionary padded to 64 bytes, or to `size` where that is
/// more.
std::string npy_header(const engine::PredictedColumn& column, int64_t rows, std::size_t size = 0) {
  std::string shape = fmt::format("{},", rows);
  for (const Dim& dim : column.field.shape) shape += fmt::format(" {},", dim.size);
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                       npy_descriptor(column.field.dtype), shape);
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlignment = 64;
  dictionary.append(kAlignment - (kPrefix + dictionary.size() + 1) % kAlignment, ' ');
  dictionary.resize(std::max(dictionary.size(), size - std::min(size, kPrefix + 1)), ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xFFU);
  header += static_cast<char>(dictionary.size() >> 8U);
  return header + dictionary;
}

class Npy final : public PredictionFile {
 public:
  explicit Npy(fs::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) throw core::storage_error("create", folder_, error.value(), core::kOutOption);
    if (!fs::is_empty(folder_, error)) {
      throw Error(ErrorCode::kStorage, fmt::format("{} is not empty: name a new folder", folder_.string()));
    }
  }

  void begin(const std::vector<engine::PredictedColumn>& columns, int64_t rows, bool named) override {
    named_ = named;
    add({.field = {"index", Dtype::kInt64, {}}, .categories = {}}, rows);
    for (const engine::PredictedColumn& column : columns) {
      add(column, rows);
      if (!column.categories.empty()) categories_[column.field.name] = column.categories;
    }
  }

  void take(std::span<const int64_t> samples, std::span<const std::string> names,
            std::span<const Array> columns) override {
    rows_ += static_cast<int64_t>(samples.size());
    for (const std::string& name : names) items_.push_back(core::as_utf8(name));
    files_.front().file->write(std::as_bytes(samples));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      files_[i + 1].file->write({static_cast<const std::byte*>(columns[i].data), columns[i].bytes()});
    }
  }

  /// Headers tell the rows that came: samples that cannot be made may have been left out.
  void finish() override {
    for (const OneArray& each : files_) {
      each.file->replace_head(npy_header(each.column, rows_, each.header));
      each.file->commit();
    }
    if (!categories_.empty()) {
      core::write_atomically(folder_ / "categories.json", pretty(categories_), core::kOutOption);
    }
    if (named_) core::write_atomically(folder_ / "items.json", pretty(items_), core::kOutOption);
  }

 private:
  void add(const engine::PredictedColumn& column, int64_t rows) {
    const std::string header = npy_header(column, rows);
    files_.push_back({std::make_unique<core::AtomicFile>(folder_ / (column.field.name + ".npy"), core::kOutOption),
                      column, header.size()});
    files_.back().file->write(header);
  }

  struct OneArray {
    std::unique_ptr<core::AtomicFile> file;
    engine::PredictedColumn column;
    std::size_t header = 0;  ///< bytes
  };

  fs::path folder_;
  std::vector<OneArray> files_;
  int64_t rows_ = 0;
  bool named_ = false;
  core::Json items_ = core::Json::array();
  core::Json categories_ = core::Json::object();
};

}  // namespace

std::unique_ptr<PredictionFile> open_prediction_file(const std::string& format, const std::optional<fs::path>& out,
                                                     Console& console) {
  if (format == "csv") return std::make_unique<Csv>(out, console);
  if (format == "npy") return std::make_unique<Npy>(out.value());
  return std::make_unique<JsonLines>(out, console);
}

}  // namespace tenon::host
