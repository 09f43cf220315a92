// Words of --on.
#include <host/data_paths.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon::host {
namespace {

bool means(const std::string& word, const std::string& path) {
  if (word == "validate" || word == "val") return path == "validate" || path.starts_with("validate.");
  return spoken_path(path) == word || path == word;
}

}  // namespace

std::string spoken_path(const std::string& path) {
  return path == "fit" || path.starts_with("fit.") ? "train" + path.substr(3) : path;
}

std::vector<std::string> chosen_paths(const Arguments& arguments, const core::Graph& graph) {
  std::vector<std::string> all;
  for (const core::Path* const path : graph.streams()) all.push_back(path->name);
  const std::vector<std::string> words = arguments.values("on");
  if (words.empty()) return all;
  std::vector<std::string> spoken(all.size());
  std::transform(all.begin(), all.end(), spoken.begin(), spoken_path);
  for (const std::string& word : words) {
    if (std::any_of(all.begin(), all.end(), [&](const std::string& path) { return means(word, path); })) continue;
    throw UsageError({fmt::format("the pipeline reads no data for \"{}\"; there is {}", word, fmt::join(spoken, ", "))},
                     &arguments.command());
  }
  std::erase_if(all, [&](const std::string& path) {
    return std::none_of(words.begin(), words.end(), [&](const std::string& word) { return means(word, path); });
  });
  return all;
}

}  // namespace tenon::host
