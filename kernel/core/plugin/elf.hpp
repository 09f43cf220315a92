// Reads facts out of a shared library's file without loading it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/storage/file.hpp>

namespace tenon::core {

/// A 64-bit little-endian ELF shared library, read by bounded plain reads: nothing of it is mapped or run. Every offset
/// and size in the file is distrusted. All functions throw Refusal ("unreadable", "not-elf", "truncated", "corrupt",
/// "architecture") that says what is wrong and what to do.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path);

  /// Content of the first section of that name, or nothing. Sections of more than 64 MiB are refused as corrupt.
  [[nodiscard]] std::optional<std::string> section(std::string_view name) const;

  /// DT_NEEDED entries in their order.
  [[nodiscard]] std::vector<std::string> needed() const;

  /// DT_SONAME, or empty.
  [[nodiscard]] std::string soname() const;

  /// The build id of .note.gnu.build-id in lower-case hex, or empty.
  [[nodiscard]] std::string build_id() const;

 private:
  struct Section {
    std::string name;
    uint32_t type = 0;
    uint32_t link = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  struct Dynamic {
    std::vector<std::string> needed;
    std::string soname;
  };

  [[nodiscard]] std::string bytes(uint64_t offset, uint64_t size, std::string_view what) const;
  [[nodiscard]] std::string content(const Section& section) const;
  [[nodiscard]] const Section* find(std::string_view name) const;
  [[nodiscard]] Dynamic dynamic() const;

  std::filesystem::path path_;
  FileDescriptor file_;
  uint64_t size_ = 0;
  std::vector<Section> sections_;
};

}  // namespace tenon::core
