// Records in a file that several processes share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <files/mapped_file.hpp>

namespace tenon::datasets {

/// A whole cache file, mapped: a header, what it holds as text, the records, and where each one begins.
class CacheFile {
 public:
  /// The file, or nothing where there is none, or it is damaged, cut off, or of something else. Reads header and index.
  static std::optional<CacheFile> find(const std::filesystem::path& path, const std::string& holds);

  [[nodiscard]] int64_t size() const noexcept { return items_; }
  [[nodiscard]] std::span<const std::byte> record(int64_t item) const noexcept;

 private:
  explicit CacheFile(MappedFile file) : file_(std::move(file)) {}
  [[nodiscard]] bool check(const std::string& holds);
  [[nodiscard]] uint64_t number(std::size_t offset) const noexcept;

  MappedFile file_;
  int64_t items_ = 0;
  std::size_t index_ = 0;  // where the index begins
};

/// Takes records, one behind the other.
using PutRecord = std::function<void(std::span<const std::byte>)>;

/// Maps the file of that path that holds `holds`; where there is none, `fill` gives its records first. Processes that
/// ask for the same file at once agree by a lock on who makes it; the others call `waits` once and wait. The file
/// appears under its name when it is whole; whoever is killed meanwhile leaves no lock, and a partial file that the next
/// one overwrites. \throws Error (kStorage) when it cannot be written; whatever `fill` throws passes through.
[[nodiscard]] CacheFile open_cache_file(const std::filesystem::path& path, const std::string& holds,
                                        const std::function<void(const PutRecord&)>& fill,
                                        const std::function<void()>& waits);

}  // namespace tenon::datasets
