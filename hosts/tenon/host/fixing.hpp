// Applies what is beyond doubt to the files in which it stands.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <core/plugin/catalogue.hpp>
#include <core/resolve/resolve.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::host {

/// Bytes [begin, end) of a text and what stands there instead.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string replacement;

  friend bool operator==(const Edit&, const Edit&) = default;
};

/// By place, each once. Edits that touch the same bytes, or insert at the same place, without being equal contradict each
/// other: none of them stays.
[[nodiscard]] std::vector<Edit> compatible(std::vector<Edit> edits);

/// The text with compatible edits made; every byte outside of them stays.
[[nodiscard]] std::string edited(std::string_view text, std::span<const Edit> edits);

/// A file that was, or would be, changed.
struct FixedFile {
  std::filesystem::path path;  ///< What it is, behind links.
  std::string name;            ///< As the user or another file called it.
  std::string before;
  std::string after;
  std::size_t edits = 0;
};

struct Fixed {
  std::vector<FixedFile> files;      ///< In the order in which they were first changed.
  core::Diagnostics left;            ///< What is still to be said about the pipeline then.
  std::vector<std::string> secrets;  ///< Texts that no output may show.
};

enum class FixMode { kWrite, kDryRun };

/// Checks a pipeline and makes the safe suggestions, again and again until none is left that can be made. Each file is
/// replaced as a whole after every round; it keeps its permissions. A dry run writes nothing, and so looks into files
/// other than the pipeline itself once. \throws Error (kStorage) for a file that may not be written, before any of that
/// round is; what was done before stays.
[[nodiscard]] Fixed fix(core::ResolveRequest request, const core::Catalogue& catalogue, FixMode mode);

}  // namespace tenon::host
