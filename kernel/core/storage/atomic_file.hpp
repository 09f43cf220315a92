// Files that have their final name only when they are complete and on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include <core/storage/file.hpp>

namespace tenon::core {

/// Writes into a hidden file of the same folder; commit() makes it durable and gives it its name. Without commit
/// nothing stays. All functions throw Error (kStorage) with path and cure. One thread at a time.
class AtomicFile {
 public:
  /// `setting` names the place, as for storage_error(); a literal.
  explicit AtomicFile(std::filesystem::path path, std::string_view setting = kRunDir);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes) { write_all(file_, bytes, path_, setting_); }
  void write(std::string_view text) { write(bytes_of(text)); }

  /// Puts other bytes in the place of the first ones, of which there are at least as many.
  void replace_head(std::string_view text);

  /// fsync, rename over what was there, fsync of the folder.
  void commit();

  /// Where the bytes are until commit(): for a writer that wants a path.
  [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }

 private:
  std::filesystem::path path_;
  std::string_view setting_;
  std::filesystem::path temporary_;
  FileDescriptor file_;
};

/// A hidden folder that its owner fills and then renames to its final name. It goes with all that is in it unless
/// release() was called.
class HiddenFolder {
 public:
  /// Makes it in the same folder as `final_path`. \throws Error (kStorage).
  explicit HiddenFolder(const std::filesystem::path& final_path);
  HiddenFolder(const HiddenFolder&) = delete;
  HiddenFolder& operator=(const HiddenFolder&) = delete;
  ~HiddenFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// It has its final name now, so nothing is left to remove.
  void release() noexcept { path_.clear(); }

 private:
  std::filesystem::path path_;
};

/// One call for a small file.
void write_atomically(const std::filesystem::path& path, std::string_view text, std::string_view setting = kRunDir);

/// A hidden name beside `path`: ".NAME.tmp-PID-ATTEMPT". Create it exclusively, and try the next attempt where it
/// exists: another thread, or an earlier process of the same number, may have it.
[[nodiscard]] std::filesystem::path temporary_beside(const std::filesystem::path& path, int attempt);

/// Removes the temporary files and folders that killed processes left in `folder`. Only where no other process can be
/// writing. \throws Error (kStorage).
void remove_temporaries(const std::filesystem::path& folder);

/// Proves that `folder` (made if missing) takes files and has room for `bytes`: reserves and removes a hidden file.
/// \throws Error (kStorage) naming folder, wanted and free space.
void require_space(const std::filesystem::path& folder, uint64_t bytes);

}  // namespace tenon::core
