// One pass over the rows; faults are collected and told together.
#include <csv/table.hpp>

#include <algorithm>
#include <map>

#include <csv/layout.hpp>
#include <csv/scanner.hpp>
#include <csv/utf8.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

/// Files that are no text at all, though called so.
void require_text(std::string_view text, const std::string& file) {
  const auto refuse = [&](const std::string& why) { throw Error(ErrorCode::kData, file + ": " + why, "/path"); };
  if (text.starts_with("\x1F\x8B")) refuse("is packed by gzip: unpack it (gunzip)");
  if (text.starts_with("PK\x03\x04")) refuse("is a zip archive or a workbook (.xlsx): save the table as CSV");
}

void require_utf8(std::string_view text, Problems& problems) {
  const std::size_t wrong = find_no_utf8(text);
  if (wrong == std::string_view::npos) return;
  const bool wide = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  problems.add(wrong, wide ? "the text is UTF-16: save it as UTF-8" : "this is no UTF-8: save the file as UTF-8");
  problems.fail_if_any("/path");
}

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
    require_utf8(text, problems_);
  }

  CsvRows load() {
    std::vector<Cell> row;
    bool there = scanner_.next(row);
    problems_.fail_if_any("/path");
    if (!there) fail("is empty");
    take_names(row);
    wanted_ = lay_out(params_.fields, names_, params_.header, file_);
    reserve();
    if (params_.header) there = scanner_.next(row);
    int64_t kept = 0;
    for (; there; there = scanner_.next(row)) {
      kept += take(row) ? 1 : 0;
      ++rows_;
    }
    problems_.fail_if_any("/path");
    if (rows_ == 0) fail("has a header, but no rows");
    if (kept == 0) fail(all_dropped());
    return {kept, rows_ - kept};  // no fault was found: what was not kept lacks a value
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw Error(ErrorCode::kData, file_ + ": " + why, "/path"); }

  [[nodiscard]] std::string all_dropped() const {
    const std::string rows = rows_ == 1 ? "the only row lacks" : "all " + std::to_string(rows_) + " rows lack";
    return rows + " a value in a column in use, and \"missing\": \"skip\" drops such rows";
  }

  void take_names(const std::vector<Cell>& row) {
    std::map<std::string, std::size_t> seen;
    std::string scratch;
    for (const Cell& cell : row) {
      if (!params_.header) {
        names_.push_back(std::to_string(names_.size() + 1));
        continue;
      }
      std::string name(cell.value(scratch));
      name.erase(0, name.find_first_not_of(" \t"));
      name.erase(name.find_last_not_of(" \t") + 1);
      const auto [first, added] = seen.emplace(name, names_.size() + 1);
      if (!added && !name.empty()) {
        problems_.add(cell.offset, "column " + std::to_string(names_.size() + 1) + " is called " + shown(name) +
                                       " like column " + std::to_string(first->second));
      }
      names_.push_back(std::move(name));
    }
    problems_.fail_if_any("/path");
  }

  /// A row takes a line, and a byte a cell.
  void reserve() {
    const auto lines = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + 1;
    for (FieldColumn& column : columns_) column.reserve(std::min(lines, text_.size() / names_.size() + 1));
  }

  /// True when the row was kept.
  bool take(const std::vector<Cell>& row) {
    if (row.size() != names_.size()) {
      problems_.add(scanner_.row_offset(), "the row has " + std::to_string(row.size()) +
                                               (row.size() == 1 ? " cell" : " cells") + ", but the " +
                                               (params_.header ? "header has " : "first row has ") +
                                               std::to_string(names_.size()));
      return false;
    }
    bool whole = true;
    for (const Wanted& wanted : wanted_) {
      const Cell& cell = row[wanted.column];
      if (is_missing(cell, params_.fields[wanted.field].type)) {
        if (params_.missing == CsvMissing::kError) report_missing(wanted, cell);
        whole = false;
      } else if (const auto error = columns_[wanted.field].put(wanted.position, cell)) {
        problems_.add(cell.offset, "column " + shown(names_[wanted.column]) + ": " + *error + wrong_type(cell));
        whole = false;
      }
    }
    if (!whole) return false;
    for (FieldColumn& column : columns_) column.commit();
    return true;
  }

  /// The likely cause when a cell of the first row is no number.
  [[nodiscard]] std::string wrong_type(const Cell& cell) const {
    if (rows_ > 0 || may_be_number(cell)) return "";
    return params_.header ? "; a column of texts needs \"type\": \"text\""
                          : "; if this row names the columns, leave out \"header\": false";
  }

  void report_missing(const Wanted& wanted, const Cell& cell) {
    const bool text = params_.fields[wanted.field].type == CsvType::kText;
    const bool empty = cell.raw.find_first_not_of(" \t") == std::string_view::npos;
    problems_.add(cell.offset,
                  "column " + shown(names_[wanted.column]) +
                      (empty ? " is empty" : " holds " + shown(cell.raw) + ", which stands for a missing value") +
                      ": fill it in, " + (text ? "put it in quotes if it is a text like any other, " : "") +
                      "or drop such rows with \"missing\": \"skip\"");
  }

  std::string_view text_;
  const CsvParams& params_;
  std::vector<FieldColumn>& columns_;
  std::string file_;
  Problems problems_;
  Scanner scanner_;
  std::vector<std::string> names_;
  std::vector<Wanted> wanted_;
  int64_t rows_ = 0;  // that were looked at, kept or not
};

}  // namespace

CsvRows load_csv(std::string_view text, const CsvParams& params, std::vector<FieldColumn>& columns) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return Loader(text, params, columns).load();
}

}  // namespace tenon::datasets
