// Distances between names.
#include <text/nearest.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <csv/problems.hpp>

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

}  // namespace

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

}  // namespace tenon::datasets
