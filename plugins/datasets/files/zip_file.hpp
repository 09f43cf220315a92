// Archives in zip format, as far as numpy writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <files/mapped_file.hpp>

namespace tenon::datasets {

/// A file within an archive.
struct ZipEntry {
  std::string name;
  uint64_t offset = 0;  ///< Of its local header.
  uint64_t packed = 0;  ///< Bytes in the archive.
  uint64_t size = 0;    ///< Bytes when unpacked.
  uint32_t crc = 0;
  uint16_t flags = 0;
  uint16_t method = 0;
};

/// A zip archive (PKWARE APPNOTE 6.3: zip64 too; stored or deflated), mapped as long as the object lives.
class ZipFile {
 public:
  /// Reads the central directory. \throws Error (kData) that names the file, with the pointer of its parameter.
  ZipFile(const std::filesystem::path& path, std::string pointer);

  [[nodiscard]] const std::vector<ZipEntry>& entries() const noexcept { return entries_; }

  /// The bytes of an entry: where they lie in the file when they are stored, else unpacked into `memory`. Their
  /// checksum is compared. \throws Error (kData): damaged, cut off, encrypted, packed in another way.
  [[nodiscard]] std::span<const std::byte> content(const ZipEntry& entry, std::vector<std::byte>& memory) const;

 private:
  [[noreturn]] void fail(const std::string& why) const;
  [[nodiscard]] uint64_t number(uint64_t offset, unsigned bytes) const;
  [[nodiscard]] std::span<const std::byte> part(uint64_t offset, uint64_t size) const;
  [[nodiscard]] uint64_t find_end() const;
  void read_directory();
  [[nodiscard]] ZipEntry read_entry(uint64_t offset) const;
  void widen(ZipEntry& entry, uint64_t extra, uint64_t extra_size) const;

  std::string name_;
  std::string pointer_;
  MappedFile file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace tenon::datasets
