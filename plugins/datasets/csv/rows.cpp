// Names of columns, and messages about cells.
#include <csv/rows.hpp>

#include <map>
#include <string_view>

#include <csv/column.hpp>
#include <csv/utf8.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {

RowRules::RowRules(const std::vector<Cell>& first, const CsvParams& params, Problems& problems) : params_(params) {
  take_names(first, problems);
  wanted_ = lay_out(params.fields, names_, params.header, params.path.string());
}

void RowRules::take_names(const std::vector<Cell>& first, Problems& problems) {
  std::map<std::string, std::size_t> seen;
  std::string scratch;
  for (const Cell& cell : first) {
    if (!params_.header) {
      names_.push_back(std::to_string(names_.size() + 1));
      continue;
    }
    std::string name(cell.value(scratch));
    name.erase(0, name.find_first_not_of(" \t"));
    name.erase(name.find_last_not_of(" \t") + 1);
    const auto [earlier, added] = seen.emplace(name, names_.size() + 1);
    if (!added && !name.empty()) {
      problems.add(cell.offset, "column " + std::to_string(names_.size() + 1) + " is called " + shown(name) +
                                    " like column " + std::to_string(earlier->second));
    }
    names_.push_back(std::move(name));
  }
  problems.fail_if_any("/path");
}

bool RowRules::has_all_cells(const std::vector<Cell>& row, std::size_t row_offset, Problems& problems) const {
  if (row.size() == names_.size()) return true;
  problems.add(row_offset, "the row has " + std::to_string(row.size()) + (row.size() == 1 ? " cell" : " cells") +
                               ", but the " + (params_.header ? "header has " : "first row has ") +
                               std::to_string(names_.size()));
  return false;
}

bool RowRules::misses(const Wanted& wanted, const Cell& cell) const {
  return is_missing(cell, params_.fields[wanted.field].type);
}

void RowRules::report_missing(const Wanted& wanted, const Cell& cell, Problems& problems) const {
  const bool text = params_.fields[wanted.field].type == CsvType::kText;
  const bool empty = cell.raw.find_first_not_of(" \t") == std::string_view::npos;
  problems.add(cell.offset,
               "column " + shown(names_[wanted.column]) +
                   (empty ? " is empty" : " holds " + shown(cell.raw) + ", which stands for a missing value") +
                   ": fill it in, " + (text ? "put it in quotes if it is a text like any other, " : "") +
                   "or drop such rows with \"missing\": \"skip\"");
}

/// With the likely cause when a cell of the first row is no number.
void RowRules::report_wrong(const Wanted& wanted, const Cell& cell, const std::string& error, bool first_of_data,
                            Problems& problems) const {
  std::string cause;
  if (first_of_data && !may_be_number(cell)) {
    cause = params_.header ? "; a column of texts needs \"type\": \"text\""
                           : "; if this row names the columns, leave out \"header\": false";
  }
  problems.add(cell.offset, "column " + shown(names_[wanted.column]) + ": " + error + cause);
}

std::string all_dropped(int64_t rows) {
  const std::string which = rows == 1 ? "the only row lacks" : "all " + std::to_string(rows) + " rows lack";
  return which + " a value in a column in use, and \"missing\": \"skip\" drops such rows";
}

void require_text(std::string_view text, const std::string& file) {
  if (!text.starts_with("PK\x03\x04")) return;
  throw Error(ErrorCode::kData, file + ": is a zip archive or a workbook (.xlsx): save the table as CSV", "/path");
}

void require_utf8(std::string_view text, std::size_t begin, std::size_t size, Problems& problems) {
  const std::size_t wrong = find_no_utf8(text.substr(begin, size));
  if (wrong == std::string_view::npos) return;
  const bool wide = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  problems.add(begin + wrong,
               wide ? "the text is UTF-16: save it as UTF-8" : "this is no UTF-8: save the file as UTF-8");
  problems.fail_if_any("/path");
}

}  // namespace tenon::datasets
