// dataset:csv: typed columns of a table of text.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <csv/column.hpp>
#include <csv/mapped_table.hpp>
#include <csv/params.hpp>
#include <csv/problems.hpp>
#include <csv/rules.hpp>
#include <csv/table.hpp>
#include <files/content_hash.hpp>
#include <files/gzip.hpp>
#include <files/mapped_file.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {
namespace {

[[noreturn]] void refuse(const std::string& why, const std::string& pointer) {
  throw Error(ErrorCode::kConfig, why, pointer);
}

}  // namespace

/// Loaded, everything lies in memory from open() on, one block a field; mapped, it is read from the file.
class Csv final : public Dataset, public Remarks, public InMemory, public Columns {
 public:
  explicit Csv(CsvParams params) : params_(std::move(params)) {
    require_delimiter(params_.delimiter);
    std::set<std::string> names;
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const CsvField& field = params_.fields[i];
      const std::string pointer = "/fields/" + std::to_string(i);
      if (!names.insert(field.name).second) {
        refuse(shown(field.name) + " is the name of another field already", pointer + "/name");
      }
      require_one_way(field.column, field.columns, field.type == CsvType::kText, pointer);
      columns_.emplace_back(field);
    }
  }

  static Ports ports() { return {{}, {Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static Example example() {
    return {
        .params = R"({"path": "table.csv", "fields": [{"name": "size", "columns": ["length", "width"]},
                          {"name": "label", "type": "integer"}, {"name": "species", "type": "text"}],
                          "missing": "skip"})",
        .files = {{"table.csv",
                   "length,width,label,species\n5.1,3.5,0,iris\n4.9,-3,1,\"rose, red\"\n,1,1,iris\n6,2.25,2,lily\n"}},
        .inputs = {}};
  }

  static std::vector<std::string> abilities() { return {Remarks::kAbility, InMemory::kAbility, Columns::kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == Remarks::kAbility) return static_cast<Remarks*>(this);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    return nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    Spec fields;
    for (const FieldColumn& column : columns_) fields.push_back(column.spec());
    return fields;
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) refuse("reads a file and takes no input: remove \"in\"", "");
    MappedFile file(params_.path, "/path");
    const bool packed = is_gzip(file.bytes());
    if (packed && params_.memory == CsvMemory::kMapped) {
      throw Error(
          ErrorCode::kData,
          params_.path.string() +
              ": is packed by gzip, and rows within it cannot be found: unpack it (gunzip), or give \"memory\": "
              "\"loaded\" if the values fit into memory",
          "/memory");
    }
    const bool large = params_.memory == CsvMemory::kAuto && file.bytes().size() > kLoadedMost;
    if (params_.memory == CsvMemory::kMapped || (large && !packed)) {
      map(std::move(file));
    } else if (packed) {
      const std::vector<std::byte> text = gunzip(file.bytes(), params_.path.string(), "/path");
      load({reinterpret_cast<const char*>(text.data()), text.size()});
    } else {
      load(file.text());
    }
  }

  [[nodiscard]] int64_t size() const override { return rows_.kept; }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }

  [[nodiscard]] std::vector<std::string> remarks() const override { return left_out(params_.path, rows_); }

  void read(int64_t index, Sample& out) const override {
    if (mapped_) return mapped_->read(index, out);
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].read(index, static_cast<int>(i), out);
  }

  [[nodiscard]] bool can_view() const noexcept override {
    return !mapped_ && std::none_of(columns_.begin(), columns_.end(),
                                    [](const FieldColumn& column) { return column.parser().is_text(); });
  }

  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    for (std::size_t i = 0; i < columns_.size(); ++i) fields[i] = columns_[i].at(index).data();
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (mapped_) return mapped_->numbers(field);
    const FieldColumn* const found = find_column(field);
    return found == nullptr ? std::nullopt : found->numbers();
  }

  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const override {
    const FieldColumn* const found = mapped_ ? nullptr : find_column(field);
    return found == nullptr ? std::nullopt : found->lengths();
  }

 private:
  static constexpr std::size_t kLoadedMost = std::size_t{1} << 30U;

  void load(std::string_view text) {
    rows_ = load_csv(text, params_, columns_);
    fingerprint_ = "csv-1:" + std::to_string(rows_.kept);
    for (const FieldColumn& column : columns_) {
      fingerprint_ += ":" + column.spec().name + " " + to_string(column.spec()) + "=" + hex(column.hash());
    }
  }

  void map(MappedFile file) {
    mapped_ = std::make_unique<MappedTable>(std::move(file), params_);
    rows_ = mapped_->rows();
    fingerprint_ = "csv-mapped-2:" + std::to_string(rows_.kept) + ":" + hex(mapped_->hash()) + ":" + params_.delimiter +
                   (params_.header ? ":header" : "");
    const auto name = [&](const std::string& column) {  // with its length, as it may hold anything
      fingerprint_.append(",").append(std::to_string(column.size())).append(":").append(column);
    };
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const CsvField& field = params_.fields[i];
      fingerprint_.append(":").append(field.name).append(" ").append(to_string(columns_[i].spec())).append("=");
      if (field.columns.empty()) name(field.column.empty() ? field.name : field.column);
      for (const std::string& each : field.columns) name(each);
    }
  }

  [[nodiscard]] const FieldColumn* find_column(std::string_view field) const {
    const auto found = std::find_if(columns_.begin(), columns_.end(),
                                    [&](const FieldColumn& column) { return column.spec().name == field; });
    return found == columns_.end() ? nullptr : &*found;
  }

  CsvParams params_;
  std::vector<FieldColumn> columns_;
  std::unique_ptr<MappedTable> mapped_;
  CsvRows rows_;
  std::string fingerprint_;
};

TENON_COMPONENT(Csv, CsvParams, "csv", "Columns of a table of comma-separated text as numbers, vectors and texts")

}  // namespace tenon::datasets
