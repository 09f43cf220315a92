// Plain files: an owned descriptor, bounded reads, and errors that name path and cure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <tenon/error.hpp>

namespace tenon::core {

/// Owns a POSIX file descriptor. Movable.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }

  /// Closes it and returns errno's value, 0 for success: a full disk may show only here.
  int close() noexcept;

 private:
  int number_ = -1;
};

/// What names the place of a run's files, and of those that a command is told to write: errors advise to change it.
inline constexpr std::string_view kRunDir = "run.dir";
inline constexpr std::string_view kOutOption = "--out";

/// "cannot write PATH: No space left on device (free some space there, or choose another place with run.dir)" as Error
/// (kStorage). `error` is an errno value; `setting` is what named the place.
[[nodiscard]] Error storage_error(std::string_view action, const std::filesystem::path& path, int error,
                                  std::string_view setting = kRunDir);

/// Writes all bytes, going on after short writes and signals. \throws Error (kStorage).
void write_all(const FileDescriptor& file, std::span<const std::byte> bytes, const std::filesystem::path& path,
               std::string_view setting = kRunDir);

/// Makes the names in a folder durable. \throws Error (kStorage).
void sync_folder(const std::filesystem::path& folder, std::string_view setting = kRunDir);

/// A regular file that is open for reading, and its size.
struct OpenedFile {
  FileDescriptor file;
  uint64_t size = 0;
};

/// \throws Error (`code`) for a file that is missing, unreadable or no regular file, (kStorage) where the process may open
/// no more files; a FIFO does not block.
[[nodiscard]] OpenedFile open_for_reading(const std::filesystem::path& path, ErrorCode code);

/// Fills `into` from `offset` on. \throws Error (`code`) when the file ends before that or cannot be read.
void read_at(const FileDescriptor& file, uint64_t offset, std::span<std::byte> into, const std::filesystem::path& path,
             ErrorCode code);

/// A whole file as text or bytes. \throws Error (`code`) for a file that is missing, unreadable, no regular file or
/// larger than `limit` bytes.
[[nodiscard]] std::string read_text(const std::filesystem::path& path, ErrorCode code,
                                    uint64_t limit = uint64_t{1} << 30);

/// The bytes behind a string.
[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace tenon::core
