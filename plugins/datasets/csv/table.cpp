// One pass over the rows; faults are collected and told together.
#include <csv/table.hpp>

#include <algorithm>
#include <optional>

#include <csv/rows.hpp>
#include <csv/scanner.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

class Loader {
 public:
  Loader(std::string_view text, const CsvParams& params, std::vector<FieldColumn>& columns)
      : text_(text),
        params_(params),
        columns_(columns),
        file_(params.path.string()),
        problems_(file_, text),
        scanner_(text, params.delimiter.front(), problems_) {
    require_text(text, file_);
    require_utf8(text, 0, text.size(), problems_);
  }

  CsvRows load() {
    std::vector<Cell> row;
    bool there = scanner_.next(row);
    problems_.fail_if_any("/path");
    if (!there) fail("is empty");
    const RowRules rules(row, params_, problems_);
    reserve(row.size());
    if (params_.header) there = scanner_.next(row);
    CsvRows rows;
    for (int64_t read = 0; there; there = scanner_.next(row), ++read) {
      const RowRules::Verdict verdict = rules.take(
          row, scanner_.row_offset(), read == 0, problems_,
          [&](const Wanted& wanted, const Cell& cell) { return columns_[wanted.field].put(wanted.position, cell); });
      if (verdict == RowRules::Verdict::kWhole) {
        for (FieldColumn& column : columns_) column.commit();
      }
      ++(verdict == RowRules::Verdict::kWhole ? rows.kept : rows.dropped);
    }
    problems_.fail_if_any("/path");
    if (rows.kept + rows.dropped == 0) fail("has a header, but no rows");
    if (rows.kept == 0) fail(all_dropped(rows.dropped));
    return rows;  // no fault was found: what was not kept lacks a value
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw Error(ErrorCode::kData, file_ + ": " + why, "/path"); }

  /// A row takes a line, and a byte a cell.
  void reserve(std::size_t cells) {
    const auto lines = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + 1;
    for (FieldColumn& column : columns_) column.reserve(std::min(lines, text_.size() / cells + 1));
  }

  std::string_view text_;
  const CsvParams& params_;
  std::vector<FieldColumn>& columns_;
  std::string file_;
  Problems problems_;
  Scanner scanner_;
};

}  // namespace

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

CsvRows load_csv(std::string_view text, const CsvParams& params, std::vector<FieldColumn>& columns) {
  return Loader(without_mark(text), params, columns).load();
}

}  // namespace tenon::datasets
