// Files that a parameter lists, by their names or by patterns.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::datasets {

struct ListedFile {
  std::filesystem::path path;
  std::string pointer;  ///< Of the element of the list that names it.
};

/// The files of a list in its order. An element may be a pattern: {000..146} stands for each number of the range in its
/// width, {a,b} for each of the words, {a} for itself, and *, ? and [] are those of a shell, their matches in the order of names, where
/// "2.tar" stands before "10.tar". `pointer`: of the list.
/// \throws Error (kData) for a pattern that matches nothing, holds a range that is none, or stands for more than a million
/// names.
[[nodiscard]] std::vector<ListedFile> list_files(const std::vector<std::filesystem::path>& list,
                                                 const std::string& pointer);

}  // namespace tenon::datasets
