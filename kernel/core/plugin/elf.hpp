// Reads facts out of a shared library's file without loading it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/plugin/refusal.hpp>
#include <core/storage/file.hpp>

namespace tenon::core {

/// "corrupt": its ELF tables are damaged, in that way.
[[nodiscard]] Refusal damaged_tables(const std::string& what);

/// A 64-bit little-endian ELF shared library, read by bounded plain reads: nothing of it is mapped or run. Every offset
/// and size in the file is distrusted. All functions throw Refusal ("unreadable", "not-elf", "truncated", "corrupt",
/// "architecture") that says what is wrong and what to do.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Content of the first section of that name, or nothing. Sections of more than 64 MiB are refused as corrupt.
  [[nodiscard]] std::optional<std::string> section(std::string_view name) const;

  /// The build id of .note.gnu.build-id in lower-case hex, or empty.
  [[nodiscard]] std::string build_id() const;

 private:
  struct Section {
    std::string name;
    uint32_t type = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  [[nodiscard]] std::string bytes(uint64_t offset, uint64_t size, std::string_view what) const;
  [[nodiscard]] std::string content(const Section& section) const;
  [[nodiscard]] const Section* find(std::string_view name) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  uint64_t size_ = 0;
  std::vector<Section> sections_;
};

}  // namespace tenon::core
