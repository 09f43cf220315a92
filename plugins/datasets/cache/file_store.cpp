// One file for each fingerprint, size and spec.
#include <cache/file_store.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <utility>

#include <cache/fill.hpp>
#include <files/content_hash.hpp>
#include <files/cores.hpp>
#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::datasets {

FileStore::FileStore(const std::filesystem::path& folder, const Dataset& input, const RecordLayout& layout,
                     const CacheLimit& limit)
    : input_(input), layout_(layout) {
  std::string holds = "1:" + std::to_string(input.size()) + ":" + input.fingerprint();
  for (const FieldSpec& field : input.spec()) holds += ":" + field.name + " " + to_string(field);
  const uint64_t key = content_hash(std::as_bytes(std::span(holds)));
  path_ = folder / (hex(key) + ".cache");
  OpenedCache opened = open_cache_file(
      path_, holds,
      {.items = input.size(),
       .fill =
           [&](const PutRecord& put) {
             waited_ = false;  // whoever was waited for has not made it
             fill(limit, put);
           },
       .find_difference = [&](const CacheFile& file) { return find_difference(file, key); },
       .waits =
           [&] {
             waited_ = true;
             std::fprintf(stderr, "dataset:cache: waits for another process that is making %s\n", path_.c_str());
           }});
  file_.emplace(std::move(opened.file));
  remade_ = std::move(opened.remark);
}

void FileStore::fill(const CacheLimit& limit, const PutRecord& put) {
  limit.require_room();
  unreadable_ = {};
  int64_t bytes = 0;
  read_all(input_, layout_, usable_cores(),
           [&](int64_t item, std::span<const std::byte> record, const std::string& why) {
             if (record.empty()) unreadable_.add(item, why);
             bytes += static_cast<int64_t>(record.size());
             if (bytes > limit.bytes()) limit.refuse_first(item + 1);
             put(record);
           });
}

/// Always the same items, and all that the file lacks.
std::optional<std::string> FileStore::find_difference(const CacheFile& file, uint64_t key) {
  constexpr int64_t kTried = 32;
  unreadable_ = {};
  const int64_t size = input_.size();
  SampleBytes sample(input_.spec());
  std::vector<std::byte> record;
  for (int64_t i = 0; i < std::min(kTried, size); ++i) {
    const uint64_t drawn = random_key({key, static_cast<uint64_t>(i)}) % static_cast<uint64_t>(size);
    const int64_t item = size <= kTried ? i : static_cast<int64_t>(drawn);
    if (file.record(item).empty()) continue;
    record.clear();
    const bool damaged = append_record(input_, layout_, item, sample, record).has_value();
    if (!damaged && content_hash(record) != file.hash(item)) {
      return "held other samples than the input gives, such as item " + std::to_string(item);
    }
  }
  for (const int64_t item : file.unread()) {
    const std::optional<std::string> why = append_record(input_, layout_, item, sample, record);
    if (!why) return "lacked samples that can be read by now, such as item " + std::to_string(item);
    unreadable_.add(item, *why);
  }
  return std::nullopt;
}

const std::byte* FileStore::record(int64_t item) const {
  const std::span<const std::byte> there = file_->record(item);
  if (there.empty()) return nullptr;
  return file_->is_whole(item) ? there.data() : mended_record(item);
}

const std::byte* FileStore::find(int64_t item) const noexcept {
  try {
    return record(item);
  } catch (const std::exception&) {  // whoever needs it asks record() why
    return nullptr;
  }
}

const std::byte* FileStore::mended_record(int64_t item) const {
  const std::scoped_lock lock(mending_);
  if (const auto own = read_anew_.find(item); own != read_anew_.end()) return own->second.data();
  if (file_->is_whole(item)) return file_->record(item).data();  // mended meanwhile
  SampleBytes sample(input_.spec());
  std::vector<std::byte> record;
  if (const std::optional<std::string> why = append_record(input_, layout_, item, sample, record)) {
    throw Error(ErrorCode::kData, path_.string() + ": item " + std::to_string(item) +
                                      " is damaged, and cannot be read from the input anew: " + *why);
  }
  if (content_hash(record) != file_->hash(item)) {
    throw Error(ErrorCode::kData,
                path_.string() + ": item " + std::to_string(item) +
                    " is damaged, and the input gives another one than when the file was made: remove the file",
                "/path");
  }
  if (mended_.fetch_add(1) == 0) {
    std::fprintf(stderr, "dataset:cache: %s: item %lld is damaged and is read anew, as all are that turn out to be\n",
                 path_.c_str(), static_cast<long long>(item));
  }
  if (file_->mend(path_, item, record)) return file_->record(item).data();
  return read_anew_.emplace(item, std::move(record)).first->second.data();
}

std::vector<std::string> FileStore::remarks() const {
  std::vector<std::string> all;
  if (!remade_.empty()) all.push_back(remade_);
  if (const int64_t mended = mended_.load(); mended > 0) {
    all.push_back(path_.string() + ": " + std::to_string(mended) +
                  (mended == 1 ? " item was damaged and was" : " items were damaged and were") + " read anew");
  }
  if (waited_) all.push_back(path_.string() + ": was made by another process meanwhile");
  return all;
}

}  // namespace tenon::datasets
