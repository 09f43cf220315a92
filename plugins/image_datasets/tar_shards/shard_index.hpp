// Where the samples of a WebDataset lie in its shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <files/patterns.hpp>

namespace tenon::image_datasets {

/// A file of a shard.
struct ShardEntry {
  uint64_t offset = 0;
  uint32_t size = 0;
};

/// Files of one shard that share a name up to its first point make a sample. In flat blocks: 12 bytes a file that is
/// used.
class ShardIndex {
 public:
  /// What is wrong with samples that lack a field's file.
  enum class Missing { kError, kSkip };

  /// Reads the headers of all shards, on several threads. `extensions`: for each field those that it may have, in small
  /// letters. \throws Error (kData) of the first shard, in the order of the list, that is wrong.
  void open(std::vector<datasets::ListedFile> shards, const std::vector<std::vector<std::string>>& extensions,
            Missing missing);

  [[nodiscard]] int64_t size() const noexcept { return static_cast<int64_t>(ends_.empty() ? 0 : ends_.back()); }
  [[nodiscard]] std::size_t shard_of(int64_t sample) const noexcept;
  [[nodiscard]] ShardEntry entry(int64_t sample, std::size_t field) const noexcept {
    const std::size_t at = static_cast<std::size_t>(sample) * fields_ + field;
    return {offsets_[at], sizes_[at]};
  }

  [[nodiscard]] const std::vector<datasets::ListedFile>& shards() const noexcept { return shards_; }

  /// Numbers of the shards that end without the mark of an archive's end, as one does that is cut off between two files.
  [[nodiscard]] const std::vector<std::size_t>& without_end_mark() const noexcept { return without_end_mark_; }

  /// How many samples lacked a file and were left out.
  [[nodiscard]] int64_t skipped() const noexcept { return skipped_; }

  /// Of names, sizes and first bytes of all files that are used.
  [[nodiscard]] uint64_t hash() const noexcept { return hash_; }

 private:
  std::vector<datasets::ListedFile> shards_;
  std::size_t fields_ = 0;
  std::vector<uint64_t> ends_;  // of the shards, in samples
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> sizes_;
  int64_t skipped_ = 0;
  std::vector<std::size_t> without_end_mark_;
  uint64_t hash_ = 0;
};

/// A name as WebDataset takes it apart: "a/b.seg.png" is sample "a/b" with the extension "seg.png". Files without an
/// extension, hidden ones and the archive's own ("__…__") belong to no sample: the key is empty.
struct SampleName {
  std::string_view key;
  std::string_view extension;
};
[[nodiscard]] SampleName sample_name(std::string_view name);

}  // namespace tenon::image_datasets
