// Finding columns by name.
#include <csv/layout.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

#include <csv/problems.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

/// Letters to insert, delete or replace, cases being equal (Wagner and Fischer, 1974).
std::size_t distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : a) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (same(letter, b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
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

std::size_t column_of(const std::string& name, std::span<const std::string> names, const std::string& file,
                      const std::string& pointer) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::optional<std::string> near = nearest(name, names);
  std::string why = file + ": has no column " + shown(name) + (near ? "; did you mean " + shown(*near) + "?" : ".") +
                    " Its columns: " + list_of(names);
  if (const std::size_t at = names.front().find_first_of(";\t|,"); names.size() == 1 && at != std::string::npos) {
    why += "; that is one: set \"delimiter\" to " + shown(names.front().substr(at, 1));
  }
  throw Error(ErrorCode::kData, why, pointer);
}

}  // namespace

std::vector<Wanted> lay_out(std::span<const CsvField> fields, std::span<const std::string> names,
                            const std::string& file) {
  std::vector<Wanted> all;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const CsvField& field = fields[i];
    const std::string pointer = "/fields/" + std::to_string(i);
    for (std::size_t j = 0; j < field.columns.size(); ++j) {
      all.push_back({column_of(field.columns[j], names, file, pointer + "/columns/" + std::to_string(j)), i, j});
    }
    if (!field.columns.empty()) continue;
    const bool own_name = field.column.empty();
    all.push_back(
        {column_of(own_name ? field.name : field.column, names, file, pointer + (own_name ? "/name" : "/column")), i,
         0});
  }
  std::stable_sort(all.begin(), all.end(), [](const Wanted& a, const Wanted& b) { return a.column < b.column; });
  return all;
}

}  // namespace tenon::datasets
