// Records of a dataset in a file that outlives the run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <cache/cache_file.hpp>
#include <cache/limit.hpp>
#include <cache/record.hpp>
#include <selection/try_read.hpp>
#include <tenon/components/dataset.hpp>

namespace tenon::datasets {

/// Finds the file of a dataset in a folder, or makes it. Input and layout outlive it.
class FileStore {
 public:
  /// Compares some items of a file that is there with the input's, since a fingerprint may follow names and sizes alone:
  /// where they differ, or an item can be read that could not be when the file was made, it is made anew. An item of the
  /// file that the input cannot read any more stays. \throws Error naming the file, the item or "limit".
  FileStore(const std::filesystem::path& folder, const Dataset& input, const RecordLayout& layout,
            const CacheLimit& limit);

  /// The record of an item, which is checked when it is touched first. One that is damaged is read from the input, for
  /// this run and, where the file can be written to, for all that follow; nullptr for one that could not be read.
  /// \throws Error when it is damaged and cannot be read anew. [any thread]
  [[nodiscard]] const std::byte* record(int64_t item) const;

  /// record(), or nullptr where it throws. [any thread]
  [[nodiscard]] const std::byte* find(int64_t item) const noexcept;

  /// Items that cannot be read: they have no record.
  [[nodiscard]] const UnreadableItems& unreadable() const noexcept { return unreadable_; }

  /// What happened to the file in this run.
  [[nodiscard]] std::vector<std::string> remarks() const;

 private:
  void fill(const CacheLimit& limit, const PutRecord& put);
  [[nodiscard]] std::optional<std::string> find_difference(const CacheFile& file, uint64_t key);
  [[nodiscard]] const std::byte* mended_record(int64_t item) const;

  const Dataset& input_;
  const RecordLayout& layout_;
  std::filesystem::path path_;
  std::optional<CacheFile> file_;
  std::string remade_;  // why the file was
  bool waited_ = false;
  UnreadableItems unreadable_;
  mutable std::mutex mending_;
  mutable std::map<int64_t, std::vector<std::byte>> read_anew_;  // damaged items of a file that lets nobody write
  mutable std::atomic<int64_t> mended_{0};
};

}  // namespace tenon::datasets
