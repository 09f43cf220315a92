// Reads the files of a pipeline: the file itself upon what it extends, and overlays.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <core/resolve/tree.hpp>
#include <core/text/diagnostic.hpp>
#include <core/text/source.hpp>

namespace tenon::core {

/// Most files that one pipeline may be made of.
inline constexpr std::size_t kMostFiles = 100;

class LayerReader {
 public:
  explicit LayerReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  /// The pipeline upon all that it extends, without `extends`. Empty after an error that leaves nothing to go on with.
  [[nodiscard]] std::optional<Tree> read_pipeline(const std::filesystem::path& path,
                                                  const std::optional<std::string>& text);

  /// An overlay as it is written, nulls and all.
  [[nodiscard]] std::optional<Tree> read_overlay(const std::filesystem::path& path);

  /// Names of the variables to which the files refer anywhere.
  [[nodiscard]] const std::vector<std::string>& references() const noexcept { return references_; }

 private:
  [[nodiscard]] std::optional<Tree> read_file(const std::filesystem::path& path, LayerKind kind, const Span& at);
  [[nodiscard]] std::optional<Tree> read_document(const SourcePtr& source, LayerKind kind);
  [[nodiscard]] std::optional<Tree> read_bases(const Tree& extends, const std::filesystem::path& folder);
  [[nodiscard]] std::optional<Tree> upon_bases(Tree tree);

  Diagnostics& diagnostics_;
  std::vector<std::filesystem::path> open_;  // Canonical paths of the files being read, to find circles.
  std::vector<std::string> references_;
  std::size_t files_ = 0;
};

}  // namespace tenon::core
