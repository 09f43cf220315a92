// Names are looked up among the classes, sorted or as they were given.
#include <image_csv/class_column.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <csv/problems.hpp>
#include <tenon/error.hpp>

namespace tenon::image_datasets {

ClassColumn class_column(const datasets::FieldColumn& texts, int64_t rows,
                         const std::optional<std::vector<std::string>>& classes, const std::string& pointer) {
  std::map<std::string_view, int64_t> numbers;
  if (classes) {
    for (const std::string& name : *classes) numbers.emplace(name, static_cast<int64_t>(numbers.size()));
  } else {
    for (int64_t row = 0; row < rows; ++row) numbers.emplace(text_at(texts, row), 0);
    int64_t next = 0;
    for (auto& [name, number] : numbers) number = next++;
  }
  ClassColumn found;
  for (const auto& [name, number] : numbers) found.names.emplace_back(name);
  if (classes) found.names = *classes;
  found.numbers.resize(static_cast<std::size_t>(rows));
  std::set<std::string_view> unknown;
  for (int64_t row = 0; row < rows; ++row) {
    const auto at = numbers.find(text_at(texts, row));
    if (at == numbers.end()) {
      unknown.insert(text_at(texts, row));
    } else {
      found.numbers[static_cast<std::size_t>(row)] = at->second;
    }
  }
  if (unknown.empty()) return found;
  constexpr std::size_t kMost = 10;
  std::string list;
  std::size_t listed = 0;
  for (const std::string_view name : unknown) {
    if (++listed <= kMost) list += (list.empty() ? "" : ", ") + datasets::shown(name);
  }
  if (listed > kMost) list += " and " + std::to_string(listed - kMost) + " more";
  throw Error(ErrorCode::kData,
              "holds " + std::to_string(unknown.size()) + (unknown.size() == 1 ? " class" : " classes") +
                  " that \"classes\" does not name: " + list,
              pointer);
}

}  // namespace tenon::image_datasets
