// Finding columns by name.
#include <csv/layout.hpp>

#include <algorithm>
#include <optional>

#include <csv/column.hpp>
#include <csv/problems.hpp>
#include <tenon/error.hpp>
#include <text/nearest.hpp>

namespace tenon::datasets {
namespace {

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
