// A file's bytes by small reads that are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <unordered_map>
#include <vector>

#include <core/storage/file.hpp>

namespace tenon::core {

/// A regular file, read page by page: looking something up in a library of hundreds of megabytes touches a few of them.
/// Movable. One thread at a time.
class FilePages {
 public:
  static constexpr uint64_t kPage = 4096;

  /// \throws Refusal ("unreadable").
  explicit FilePages(std::filesystem::path path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] uint64_t size() const noexcept { return size_; }

  /// Fills `into` with the bytes from `offset` on. \throws Refusal ("truncated", "unreadable").
  void read(uint64_t offset, std::span<std::byte> into) const;

  /// The bytes from `offset` to the end of its page, or of the file, which are kept as long as this; none behind the
  /// file's end. \throws Refusal ("unreadable").
  [[nodiscard]] std::span<const std::byte> piece(uint64_t offset) const;

 private:
  void read_file(uint64_t offset, std::span<std::byte> into) const;
  [[nodiscard]] const std::vector<std::byte>& page_of(uint64_t number) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  uint64_t size_ = 0;
  mutable std::unordered_map<uint64_t, std::vector<std::byte>> pages_;
  mutable uint64_t latest_ = 0;
  mutable const std::vector<std::byte>* latest_page_ = nullptr;  // mostly asked for again
};

}  // namespace tenon::core
