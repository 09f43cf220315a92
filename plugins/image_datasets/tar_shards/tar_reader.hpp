// Tar archives: which files they hold, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tenon::image_datasets {

/// A regular file in an archive.
struct TarMember {
  std::string name;
  uint64_t offset = 0;  ///< Of its bytes.
  uint64_t size = 0;
  std::span<const std::byte> head;  ///< Its first bytes, up to TarReader::kHead; valid until the next call.
};

/// An open file, read at any place by any thread.
class TarFile {
 public:
  /// \throws Error (kData, or as unreadable() says) that names the file, with the pointer of the parameter that lists it.
  TarFile(const std::filesystem::path& path, const std::string& pointer);
  TarFile(TarFile&& other) noexcept;
  TarFile(const TarFile&) = delete;
  TarFile& operator=(const TarFile&) = delete;
  TarFile& operator=(TarFile&&) = delete;
  ~TarFile();

  [[nodiscard]] uint64_t size() const noexcept { return size_; }

  /// Fills `to` from a place on, as far as the file goes; gives how many bytes that are.
  /// \throws Error (as unreadable() says) without the file's name.
  [[nodiscard]] std::size_t read(uint64_t offset, std::span<std::byte> to) const;

  /// Tells the system that a range will be read soon.
  void expect(uint64_t offset, uint64_t size) const noexcept;

 private:
  int descriptor_;
  uint64_t size_ = 0;
};

/// Goes from header to header: POSIX ustar and pax, old tar, GNU's long names. Reads little beyond the headers.
class TarReader {
 public:
  static constexpr std::size_t kHead = 256;

  /// `name` begins messages. The file outlives the reader.
  TarReader(const TarFile& file, std::string name, std::string pointer);

  /// The next regular file; false at the end. \throws Error (kData) naming the archive and the place: damaged, cut off.
  bool next(TarMember& member);

  /// Whether next() came upon the blocks of zeros that end an archive; else the file just ended.
  [[nodiscard]] bool has_end_mark() const noexcept { return has_end_mark_; }

 private:
  /// What stands before a file's header and changes what that says.
  struct Override {
    std::string name;
    int64_t size = -1;
  };

  [[noreturn]] void fail(uint64_t offset, const std::string& why) const;
  [[nodiscard]] std::string at_byte(uint64_t offset, const std::string& what) const;
  [[nodiscard]] std::span<const std::byte> bytes(uint64_t offset, std::size_t size);
  [[nodiscard]] std::string text(uint64_t offset, uint64_t size);
  void read_pax(uint64_t offset, uint64_t size, Override& override);

  const TarFile& file_;
  std::string name_;
  std::string pointer_;
  std::vector<std::byte> buffer_;
  uint64_t buffer_offset_ = 0;
  uint64_t at_ = 0;
  bool has_end_mark_ = false;
};

/// The name in the header before a file's bytes, for messages; empty where there is none.
[[nodiscard]] std::string member_name(const TarFile& file, uint64_t offset);

}  // namespace tenon::image_datasets
