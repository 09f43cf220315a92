// Finding columns by name.
#include <csv/layout.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <csv/column.hpp>
#include <csv/problems.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

/// Letters to insert, delete, replace or swap with their neighbour, cases being equal (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  };
  std::vector<std::size_t> before;
  std::vector<std::size_t> above;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = above[j] + (same(a[i], b[j]) ? 0 : 1);
      row[j + 1] = std::min({replaced, row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && same(a[i], b[j - 1]) && same(a[i - 1], b[j])) {
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
      }
    }
  }
  return row.back();
}

std::optional<std::string> nearest(const std::string& name, std::span<const std::string> names) {
  std::optional<std::string> found;
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : names) {
    const std::size_t edits = distance(name, candidate);
    if (edits < best && edits < name.size()) {
      best = edits;
      found = candidate;
    }
  }
  return found;
}

std::string list_of(std::span<const std::string> names) {
  constexpr std::size_t kMost = 30;
  std::string list;
  for (const std::string& name : names.first(std::min(kMost, names.size()))) {
    list += (list.empty() ? "" : ", ") + shown(name);
  }
  return names.size() > kMost ? list + " and " + std::to_string(names.size() - kMost) + " more" : list;
}

/// The columns that there are, and those that were asked for in vain.
class Columns {
 public:
  Columns(std::span<const std::string> names, bool header) : names_(names), header_(header) {}

  /// The place of a column; of one that is not there any, until fail_if_missing().
  std::size_t find(const std::string& name, const std::string& pointer) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
    if (std::find(missing_.begin(), missing_.end(), name) == missing_.end()) missing_.push_back(name);
    if (pointer_.empty()) pointer_ = pointer;
    return 0;
  }

  void fail_if_missing(const std::string& file) const {
    if (missing_.empty()) return;
    std::string why = file + ": has no column" + (missing_.size() == 1 ? " " : "s ");
    for (const std::string& name : missing_) {
      const std::optional<std::string> near = nearest(name, names_);
      why += (name == missing_.front() ? "" : ", ") + shown(name) +
             (near ? "; did you mean " + shown(*near) + "?" : std::string());
    }
    throw Error(ErrorCode::kData, why + (why.back() == '?' ? "" : ".") + " Its columns: " + list_of(names_) + cause(),
                pointer_);
  }

 private:
  /// What may be wrong with all names at once.
  [[nodiscard]] std::string cause() const {
    const std::size_t at = names_.front().find_first_of(";\t|,");
    if (names_.size() == 1 && at != std::string::npos) {
      return "; that is one: set \"delimiter\" to " + shown(names_.front().substr(at, 1));
    }
    const auto numbers = static_cast<std::size_t>(std::count_if(names_.begin(), names_.end(), is_number));
    if (!header_ || 2 * numbers < names_.size()) return "";
    return "; if the first row is one of data, \"header\": false calls the columns \"1\", \"2\", …";
  }

  std::span<const std::string> names_;
  bool header_;
  std::vector<std::string> missing_;
  std::string pointer_;  // of the first that is missing
};

}  // namespace

std::vector<Wanted> lay_out(std::span<const CsvField> fields, std::span<const std::string> names, bool header,
                            const std::string& file) {
  Columns columns(names, header);
  std::vector<Wanted> all;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const CsvField& field = fields[i];
    const std::string pointer = "/fields/" + std::to_string(i);
    for (std::size_t j = 0; j < field.columns.size(); ++j) {
      all.push_back({columns.find(field.columns[j], pointer + "/columns/" + std::to_string(j)), i, j});
    }
    if (!field.columns.empty()) continue;
    const bool own_name = field.column.empty();
    all.push_back(
        {columns.find(own_name ? field.name : field.column, pointer + (own_name ? "/name" : "/column")), i, 0});
  }
  columns.fail_if_missing(file);
  std::stable_sort(all.begin(), all.end(), [](const Wanted& a, const Wanted& b) { return a.column < b.column; });
  return all;
}

}  // namespace tenon::datasets
