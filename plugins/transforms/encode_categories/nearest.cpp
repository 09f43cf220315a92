// Distances between texts.
#include <encode_categories/nearest.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace tenon::transforms {
namespace {

std::string lower(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return all;
}

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

const std::string* nearest(std::string_view text, std::span<const std::string> categories) {
  constexpr std::size_t kLongest = 64;
  if (text.size() > kLongest) return nullptr;
  const std::string wanted = lower(text);
  const std::string* best = nullptr;
  std::size_t fewest = text.size() / 3 + 1;
  for (const std::string& category : categories) {
    if (category.size() > kLongest) continue;
    const std::size_t distance = edits(wanted, lower(category));
    if (distance >= fewest) continue;
    best = &category;
    fewest = distance;
  }
  return best;
}

}  // namespace tenon::transforms
