// Records in a file that several processes share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <files/mapped_file.hpp>

namespace tenon::datasets {

/// A whole cache file, mapped: a header, what it holds as text, the records, and where each one begins with a hash of it.
class CacheFile {
 public:
  /// The file, or nothing where it is damaged, cut off, or of something else than `items` that `holds` names. Reads header
  /// and index; records are looked at when they are touched. \throws Error (kData) when it cannot be read at all.
  static std::optional<CacheFile> open(const std::filesystem::path& path, const std::string& holds, int64_t items);

  /// The record of an item as it lies there; empty for one that could not be read when the file was made. [any thread]
  [[nodiscard]] std::span<const std::byte> record(int64_t item) const noexcept;

  /// content_hash() of the record that was written. [any thread]
  [[nodiscard]] uint64_t hash(int64_t item) const noexcept;

  /// The items without a record, in ascending order.
  [[nodiscard]] const std::vector<int64_t>& unread() const noexcept { return unread_; }

  /// Whether the record is the one that was written: it is hashed until it was found to be. [any thread]
  [[nodiscard]] bool is_whole(int64_t item) const noexcept;

  /// Puts a record of that hash in the place of a damaged one, in the file too; false where the file lets nobody write.
  /// Other processes may have it mapped, and may do the same. [any thread]
  [[nodiscard]] bool mend(const std::filesystem::path& path, int64_t item, std::span<const std::byte> record) const;

 private:
  explicit CacheFile(MappedFile file) : file_(std::move(file)) {}
  [[nodiscard]] bool check(const std::string& holds, uint64_t items);
  [[nodiscard]] bool index_is_right();
  [[nodiscard]] uint64_t number(std::size_t offset) const noexcept;

  MappedFile file_;
  std::size_t index_ = 0;  // where the index begins
  int64_t items_ = 0;
  std::vector<int64_t> unread_;
  std::unique_ptr<std::atomic<bool>[]> whole_;
};

/// Takes records, one behind the other, empty ones for items that cannot be read.
using PutRecord = std::function<void(std::span<const std::byte>)>;

/// What a cache file is of.
struct CacheSource {
  int64_t items = 0;
  /// Gives all records.
  std::function<void(const PutRecord&)> fill;
  /// How the file differs from what the source gives now, such as "held …", among some items that are tried.
  std::function<std::optional<std::string>(const CacheFile&)> find_difference;
  /// Called once before it waits for another process.
  std::function<void()> waits;
};

struct OpenedCache {
  CacheFile file;
  std::string remark;  ///< Why a file that was there has been made anew; or empty.
};

/// Maps the file of that path that holds `holds`; where there is none, or it is damaged or differs from the source, it is
/// made first. Processes that ask for the same file at once agree by a lock on who makes it; the others wait. The file
/// appears under its name when it is whole, and in the place of an older one, which stays as it is for those who have it
/// mapped; whoever is killed meanwhile leaves no lock, and a partial file that the next one overwrites.
/// \throws Error (kStorage) when it cannot be written; whatever the source throws passes through.
[[nodiscard]] OpenedCache open_cache_file(const std::filesystem::path& path, const std::string& holds,
                                          const CacheSource& source);

}  // namespace tenon::datasets
