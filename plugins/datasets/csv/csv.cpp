// dataset:csv: typed columns of a table of text.
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <csv/column.hpp>
#include <csv/params.hpp>
#include <csv/problems.hpp>
#include <csv/table.hpp>
#include <files/content_hash.hpp>
#include <files/mapped_file.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {
namespace {

[[noreturn]] void refuse(const std::string& why, const std::string& pointer) {
  throw Error(ErrorCode::kConfig, why, pointer);
}

}  // namespace

/// Everything lies in memory from open() on, one block a field.
class Csv final : public Dataset, public Remarks {
 public:
  explicit Csv(CsvParams params) : params_(std::move(params)) {
    const std::string& delimiter = params_.delimiter;
    if (delimiter.size() != 1 || std::string_view("\"\r\n").find(delimiter) != std::string_view::npos ||
        static_cast<unsigned char>(delimiter.front()) >= 0x80) {
      refuse(shown(delimiter) + " separates no cells: give one ASCII character, such as \",\" or \";\"", "/delimiter");
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const CsvField& field = params_.fields[i];
      const std::string pointer = "/fields/" + std::to_string(i);
      if (!names.insert(field.name).second) {
        refuse(shown(field.name) + " is the name of another field already", pointer + "/name");
      }
      if (!field.column.empty() && !field.columns.empty()) {
        refuse("give either \"column\", for one value, or \"columns\", for a vector", pointer + "/columns");
      }
      if (field.type == CsvType::kText && !field.columns.empty()) {
        refuse("texts make no vector: give each column of texts a field of its own", pointer + "/columns");
      }
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

  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Remarks*>(this) : nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    Spec fields;
    for (const FieldColumn& column : columns_) fields.push_back(column.spec());
    return fields;
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) refuse("reads a file and takes no input: remove \"in\"", "");
    const MappedFile file(params_.path, "/path");
    rows_ = load_csv(file.text(), params_, columns_);
    fingerprint_ = "csv-1:" + std::to_string(rows_.kept);
    for (const FieldColumn& column : columns_) {
      fingerprint_ += ":" + column.spec().name + " " + to_string(column.spec()) + "=" + hex(column.hash());
    }
  }

  [[nodiscard]] int64_t size() const override { return rows_.kept; }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    if (rows_.dropped == 0) return {};
    return {params_.path.string() + ": " + std::to_string(rows_.dropped) + " of " +
            std::to_string(rows_.kept + rows_.dropped) +
            (rows_.dropped == 1 ? " rows lacks a value and was" : " rows lack a value and were") +
            " left out (\"missing\": \"skip\")"};
  }

  void read(int64_t index, Sample& out) const override {
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].read(index, static_cast<int>(i), out);
  }

 private:
  CsvParams params_;
  std::vector<FieldColumn> columns_;
  CsvRows rows_;
  std::string fingerprint_;
};

TENON_COMPONENT(Csv, CsvParams, "csv", "Columns of a table of comma-separated text as numbers, vectors and texts")

}  // namespace tenon::datasets
