// Braces here, the rest by glob(3).
#include <files/patterns.hpp>

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <files/natural_order.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

/// That one pattern stands for.
constexpr std::size_t kMostNames = 1'000'000;

/// "000..146" → each number, as wide as the first; nothing for another text.
std::optional<std::vector<std::string>> range_of(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::string_view from = text.substr(0, dots);
  const std::string_view to = text.substr(dots + 2);
  int64_t first = 0;
  int64_t last = 0;
  const auto whole = [](std::string_view digits, int64_t& value) {
    const auto [stopped, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && stopped == digits.data() + digits.size() && value >= 0;
  };
  if (!whole(from, first) || !whole(to, last) || last < first || last - first >= int64_t{kMostNames})
    return std::nullopt;
  std::vector<std::string> all;
  for (int64_t number = first; number <= last; ++number) {
    std::string digits = std::to_string(number);
    if (digits.size() < from.size()) digits.insert(0, from.size() - digits.size(), '0');
    all.push_back(std::move(digits));
  }
  return all;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> all;
  while (true) {
    const std::size_t comma = text.find(',');
    all.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return all;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string> without_braces(const std::string& pattern, const std::string& pointer) {
  const std::size_t open = pattern.find('{');
  const std::size_t close = pattern.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {pattern};
  const std::string inside = pattern.substr(open + 1, close - open - 1);
  const std::vector<std::string> here = range_of(inside).value_or(words_of(inside));
  const std::vector<std::string> behind = without_braces(pattern.substr(close + 1), pointer);
  if (here.size() * behind.size() > kMostNames) {
    throw Error(ErrorCode::kData, pattern + ": stands for more than " + std::to_string(kMostNames) + " files", pointer);
  }
  std::vector<std::string> all;
  for (const std::string& each : here) {
    for (const std::string& rest : behind) all.push_back(pattern.substr(0, open).append(each).append(rest));
  }
  return all;
}

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> all;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    all.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::sort(all.begin(), all.end(), comes_before);
  return all;
}

}  // namespace

std::vector<ListedFile> list_files(const std::vector<std::filesystem::path>& list, const std::string& pointer) {
  std::vector<ListedFile> files;
  std::error_code ignored;  // what a file is will be told by whoever opens it
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = pointer + "/" + std::to_string(i);
    if (std::filesystem::exists(list[i], ignored)) {
      files.push_back({list[i], place});
      continue;
    }
    for (const std::string& each : without_braces(list[i].string(), place)) {
      if (each.find_first_of("*?[") == std::string::npos) {
        files.push_back({each, place});
        continue;
      }
      const std::vector<std::string> matches = matches_of(each);
      if (matches.empty()) throw Error(ErrorCode::kData, each + ": no file matches this pattern", place);
      for (const std::string& match : matches) files.push_back({match, place});
    }
  }
  return files;
}

}  // namespace tenon::datasets
