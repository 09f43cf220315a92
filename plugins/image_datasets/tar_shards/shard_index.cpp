// One pass over the headers of each shard; shards are shared out to threads and joined in their order.
#include <tar_shards/shard_index.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <files/content_hash.hpp>
#include <files/share_out.hpp>
#include <tar_shards/tar_reader.hpp>
#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::image_datasets {
namespace {

using Extensions = std::vector<std::vector<std::string>>;

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

std::string list_of(const std::vector<std::string>& extensions) {
  std::string list;
  for (const std::string& each : extensions) list += (list.empty() ? "." : ", .") + each;
  return list;
}

/// The samples of one shard.
struct Part {
  std::vector<uint64_t> offsets;
  std::vector<uint32_t> sizes;
  uint64_t samples = 0;
  int64_t skipped = 0;
  bool has_end_mark = false;
  uint64_t hash = 0;
};

class Scan {
 public:
  Scan(const datasets::ListedFile& shard, const Extensions& extensions, ShardIndex::Missing missing, Part& part)
      : shard_(shard), extensions_(extensions), missing_(missing), part_(part), found_(extensions.size()) {}

  void run() {
    const TarFile file(shard_.path, shard_.pointer);
    TarReader reader(file, shard_.path.string(), shard_.pointer);
    for (TarMember member; reader.next(member);) {
      const SampleName name = sample_name(member.name);
      if (name.key.empty()) continue;
      if (name.key != key_) {
        finish();
        begin(name.key, member.offset);
      }
      take(member, in_small_letters(name.extension));
    }
    finish();
    part_.has_end_mark = reader.has_end_mark();
  }

 private:
  struct Found {
    bool there = false;
    ShardEntry entry;
  };

  [[noreturn]] void fail(uint64_t offset, const std::string& why) const {
    throw Error(ErrorCode::kData, shard_.path.string() + ": at byte " + std::to_string(offset) + ": " + why,
                shard_.pointer);
  }

  void begin(std::string_view key, uint64_t offset) {
    key_ = key;
    begin_ = offset;
    hash_ = datasets::content_hash(std::as_bytes(std::span(key)));
    extensions_seen_.clear();
    std::fill(found_.begin(), found_.end(), Found());
  }

  void take(const TarMember& member, std::string extension) {
    bool used = false;
    for (std::size_t i = 0; i < extensions_.size(); ++i) {
      if (std::find(extensions_[i].begin(), extensions_[i].end(), extension) == extensions_[i].end()) continue;
      used = true;
      if (found_[i].there) {
        fail(member.offset, "sample \"" + key_ + "\" has a second file of " + list_of(extensions_[i]) +
                                ": are samples of one name apart in the archive, or is it packed twice?");
      }
      if (member.size > std::numeric_limits<uint32_t>::max()) {
        fail(member.offset, "\"" + member.name + "\" has 4 GiB or more, which no field takes");
      }
      found_[i] = {true, {member.offset, static_cast<uint32_t>(member.size)}};
    }
    if (used) {
      hash_ = random_key({hash_, datasets::content_hash(std::as_bytes(std::span(extension))), member.size,
                          datasets::content_hash(member.head)});
    }
    extensions_seen_.push_back(std::move(extension));
  }

  void finish() {
    if (key_.empty()) return;
    const auto lacking = std::find_if(found_.begin(), found_.end(), [](const Found& found) { return !found.there; });
    if (lacking == found_.end()) {
      for (const Found& found : found_) {
        part_.offsets.push_back(found.entry.offset);
        part_.sizes.push_back(found.entry.size);
      }
      ++part_.samples;
      part_.hash = random_key({part_.hash, hash_});
    } else if (missing_ == ShardIndex::Missing::kSkip) {
      ++part_.skipped;
    } else {
      fail(begin_, "sample \"" + key_ + "\" has no file of " +
                       list_of(extensions_[static_cast<std::size_t>(lacking - found_.begin())]) + ", but " +
                       list_of(extensions_seen_) + ": name others in \"extensions\", or drop such samples with " +
                       "\"missing\": \"skip\"");
    }
    key_.clear();
  }

  const datasets::ListedFile& shard_;
  const Extensions& extensions_;
  ShardIndex::Missing missing_;
  Part& part_;
  std::string key_;  // of the sample that is being read
  uint64_t begin_ = 0;
  uint64_t hash_ = 0;
  std::vector<std::string> extensions_seen_;
  std::vector<Found> found_;
};

}  // namespace

SampleName sample_name(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t point = name.find('.', base);
  const bool own = name.substr(base).starts_with("__") && name.ends_with("__");
  if (point == std::string_view::npos || point == base || point + 1 == name.size() || own) return {};
  return {name.substr(0, point), name.substr(point + 1)};
}

void ShardIndex::open(std::vector<datasets::ListedFile> shards, const Extensions& extensions, Missing missing) {
  shards_ = std::move(shards);
  fields_ = extensions.size();
  std::vector<Part> parts(shards_.size());
  datasets::share_out(parts.size(), [&](std::size_t i) { Scan(shards_[i], extensions, missing, parts[i]).run(); });
  std::size_t files = 0;
  for (const Part& part : parts) files += part.offsets.size();
  offsets_.reserve(files);
  sizes_.reserve(files);
  for (Part& part : parts) {
    if (!part.has_end_mark) without_end_mark_.push_back(ends_.size());
    offsets_.insert(offsets_.end(), part.offsets.begin(), part.offsets.end());
    sizes_.insert(sizes_.end(), part.sizes.begin(), part.sizes.end());
    ends_.push_back(static_cast<uint64_t>(size()) + part.samples);
    skipped_ += part.skipped;
    hash_ = random_key({hash_, part.hash});
    part = Part();
  }
}

std::size_t ShardIndex::shard_of(int64_t sample) const noexcept {
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), static_cast<uint64_t>(sample));
  return static_cast<std::size_t>(found - ends_.begin());
}

}  // namespace tenon::image_datasets
