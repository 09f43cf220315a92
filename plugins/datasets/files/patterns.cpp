// Braces here, the rest by glob(3).
#include <files/patterns.hpp>

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <files/natural_order.hpp>
#include <files/unreadable.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

/// That one pattern stands for.
constexpr std::size_t kMostNames = 1'000'000;
constexpr const char* kTooMany = "stands for more than 1000000 files";

[[noreturn]] void fail(const std::string& pattern, const std::string& why, const std::string& pointer) {
  throw Error(ErrorCode::kData, pattern + ": " + why, pointer);
}

/// "000..146" → each number, as wide as the first; nothing for a text without dots.
std::optional<std::vector<std::string>> range_of(std::string_view text, const std::string& pattern,
                                                 const std::string& pointer) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos || text.find(',') != std::string_view::npos) return std::nullopt;
  const std::string_view from = text.substr(0, dots);
  const std::string_view to = text.substr(dots + 2);
  int64_t first = 0;
  int64_t last = 0;
  const auto whole = [](std::string_view digits, int64_t& value) {
    const auto [stopped, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && stopped == digits.data() + digits.size() && value >= 0;
  };
  if (!whole(from, first) || !whole(to, last) || last < first) {
    fail(pattern,
         "there is no such file, and {" + std::string(text) +
             "} is no range: it goes from a whole number to one that is not below it, as {000..146} does",
         pointer);
  }
  if (last - first >= int64_t{kMostNames}) fail(pattern, kTooMany, pointer);
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

/// What `rest` of the whole pattern stands for.
std::vector<std::string> without_braces(const std::string& rest, const std::string& pattern,
                                        const std::string& pointer) {
  const std::size_t open = rest.find('{');
  const std::size_t close = rest.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {rest};
  const std::string inside = rest.substr(open + 1, close - open - 1);
  // As a shell has it, braces around one word are a part of the name.
  const std::string between = inside.find(',') == std::string::npos ? "{" + inside + "}" : inside;
  const std::vector<std::string> here = range_of(inside, pattern, pointer).value_or(words_of(between));
  const std::vector<std::string> behind = without_braces(rest.substr(close + 1), pattern, pointer);
  if (here.size() * behind.size() > kMostNames) fail(pattern, kTooMany, pointer);
  std::vector<std::string> all;
  for (const std::string& each : here) {
    for (const std::string& end : behind) all.push_back(rest.substr(0, open).append(each).append(end));
  }
  return all;
}

thread_local int folder_error = 0;  // glob() hands nothing to its callback

/// Ends a search for what is not the folder's fault; folders that may not be read hold no match.
int on_folder_error(const char* /*folder*/, int number) {
  folder_error = is_fault_of_item(unreadable({}, number).code()) ? 0 : number;
  return folder_error;
}

std::vector<std::string> matches_of(const std::string& pattern, const std::string& pointer) {
  glob_t found{};
  folder_error = 0;
  const int outcome = ::glob(pattern.c_str(), GLOB_NOSORT, &on_folder_error, &found);
  std::vector<std::string> all;
  if (outcome == 0) all.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (folder_error != 0) throw unreadable(pattern, folder_error, pointer);
  if (outcome == GLOB_NOSPACE) throw std::bad_alloc();
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
    for (const std::string& each : without_braces(list[i].string(), list[i].string(), place)) {
      if (each.find_first_of("*?[") == std::string::npos) {
        files.push_back({each, place});
        continue;
      }
      const std::vector<std::string> matches = matches_of(each, place);
      if (matches.empty()) throw Error(ErrorCode::kData, each + ": no file matches this pattern", place);
      for (const std::string& match : matches) files.push_back({match, place});
    }
  }
  return files;
}

}  // namespace tenon::datasets
