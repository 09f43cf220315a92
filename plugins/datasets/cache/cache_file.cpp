// The lock is one on the partial file itself, so that nothing is left of it: whoever gets it looks first whether that
// file still bears its name. Files of equal headers hold equal records, since the header has a hash of the index, and the
// index one of each record.
#include <cache/cache_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <files/descriptor.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

namespace fs = std::filesystem;

/// Numbers of the header, eight bytes each, behind the magic.
enum HeaderNumber : std::size_t { kFileSize, kItems, kIndexOffset, kHoldsSize, kIndexHash, kHeaderHash, kNumbers };

constexpr std::string_view kMagic = "TENONCA3";
constexpr std::size_t kHeaderSize = kMagic.size() + kNumbers * sizeof(uint64_t);

/// Of the index: one an item, and one more that tells where the last record ends. A record has eight bytes at least, for
/// every sample has a field; one of none is that of an item that could not be read.
struct Entry {
  uint64_t begin = 0;
  uint64_t hash = 0;
};

constexpr std::size_t aligned(std::size_t offset) { return (offset + 63) / 64 * 64; }

/// False, with errno, when not all could be written.
bool write_at(int file, std::span<const std::byte> bytes, off_t at) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    at += written;
  }
  return true;
}

class Writer {
 public:
  explicit Writer(const fs::path& path) : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (file_.number < 0) fail("cannot be written");
  }

  /// True when this process is alone with the file, which still bears its name.
  bool lock(const std::function<void()>& waits) {
    if (::flock(file_.number, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) waits();
      while (::flock(file_.number, LOCK_EX) != 0) {
        if (errno != EINTR) fail("cannot be locked");
      }
    }
    struct stat open_now {};
    struct stat named_now {};
    return ::fstat(file_.number, &open_now) == 0 && ::stat(path_.c_str(), &named_now) == 0 &&
           open_now.st_ino == named_now.st_ino && open_now.st_dev == named_now.st_dev;
  }

  void begin() {
    if (::ftruncate(file_.number, 0) != 0) fail("cannot be written");
    offset_ = 0;
  }

  void put(std::span<const std::byte> bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    offset_ += bytes.size();
    constexpr std::size_t kBuffered = std::size_t{4} << 20U;
    if (buffer_.size() >= kBuffered) flush();
  }

  void pad(std::size_t to) { put(std::vector<std::byte>(to - offset_)); }

  [[nodiscard]] std::size_t offset() const { return offset_; }

  /// Writes at the beginning, and everything to disk.
  void finish(std::span<const std::byte> header) {
    flush();
    write(header, 0);
    if (::fsync(file_.number) != 0) fail("cannot be written");
  }

  void rename_to(const fs::path& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) fail("cannot be renamed to " + path.filename().string());
    const Descriptor folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number >= 0) ::fsync(folder.number);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kStorage, path_.string() + ": " + what + ": " + std::generic_category().message(errno),
                "/path");
  }

  void flush() {
    write(buffer_, static_cast<off_t>(offset_ - buffer_.size()));
    buffer_.clear();
  }

  void write(std::span<const std::byte> bytes, off_t at) const {
    if (!write_at(file_.number, bytes, at)) fail("cannot be written");
  }

  fs::path path_;
  Descriptor file_;
  std::vector<std::byte> buffer_;
  std::size_t offset_ = 0;
};

std::vector<std::byte> header_of(std::array<uint64_t, kNumbers> numbers) {
  std::vector<std::byte> header(kHeaderSize);
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  numbers[kHeaderHash] = content_hash(std::as_bytes(std::span(numbers).first(kHeaderHash)));
  std::memcpy(header.data() + kMagic.size(), numbers.data(), sizeof(numbers));
  return header;
}

void write_all(Writer& writer, const std::string& holds, const std::function<void(const PutRecord&)>& fill) {
  writer.begin();
  writer.pad(kHeaderSize);
  writer.put(std::as_bytes(std::span(holds)));
  writer.pad(aligned(writer.offset()));
  std::vector<Entry> index;
  fill([&](std::span<const std::byte> record) {
    index.push_back({writer.offset(), content_hash(record)});
    writer.put(record);
  });
  index.push_back({writer.offset(), 0});
  writer.pad(aligned(writer.offset()));
  const std::size_t index_offset = writer.offset();
  const std::span<const std::byte> bytes = std::as_bytes(std::span(index));
  writer.put(bytes);
  writer.finish(header_of({writer.offset(), index.size() - 1, index_offset, holds.size(), content_hash(bytes), 0}));
}

/// The file of that path if it is whole and of the source; or else nothing, and why, if there is one.
std::optional<CacheFile> find_equal(const fs::path& path, const std::string& holds, const CacheSource& source,
                                    std::string& why) {
  why.clear();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::optional<CacheFile> file = CacheFile::open(path, holds, source.items);
  if (!file) {
    why = "was damaged, or of another version";
    return std::nullopt;
  }
  if (std::optional<std::string> difference = source.find_difference(*file)) {
    why = *std::move(difference);
    return std::nullopt;
  }
  return file;
}

}  // namespace

uint64_t CacheFile::number(std::size_t offset) const noexcept {
  uint64_t value = 0;
  std::memcpy(&value, file_.bytes().data() + offset, sizeof(value));
  return value;
}

std::optional<CacheFile> CacheFile::open(const fs::path& path, const std::string& holds, int64_t items) {
  CacheFile file(MappedFile(path, "/path"));
  if (!file.check(holds, static_cast<uint64_t>(items))) return std::nullopt;
  return file;
}

bool CacheFile::check(const std::string& holds, uint64_t items) {
  const std::span<const std::byte> all = file_.bytes();
  if (all.size() < kHeaderSize || !file_.text().starts_with(kMagic)) return false;
  std::array<uint64_t, kNumbers> numbers{};
  std::memcpy(numbers.data(), all.data() + kMagic.size(), sizeof(numbers));
  if (numbers[kHeaderHash] != content_hash(std::as_bytes(std::span(numbers).first(kHeaderHash)))) return false;
  if (numbers[kFileSize] != all.size() || numbers[kHoldsSize] != holds.size()) return false;
  if (file_.text().substr(kHeaderSize, holds.size()) != holds) return false;
  if (numbers[kIndexOffset] > all.size() || numbers[kItems] != items) return false;
  const std::span<const std::byte> index = all.subspan(numbers[kIndexOffset]);
  if (index.size() != (numbers[kItems] + 1) * sizeof(Entry) || content_hash(index) != numbers[kIndexHash]) {
    return false;
  }
  index_ = numbers[kIndexOffset];
  whole_ = std::make_unique<std::atomic<bool>[]>(numbers[kItems]);
  items_ = static_cast<int64_t>(items);
  return index_is_right();
}

/// Every record lies behind the one before it, and before the index.
bool CacheFile::index_is_right() {
  uint64_t begin = number(index_ + offsetof(Entry, begin));
  for (int64_t item = 0; item < items_; ++item) {
    const std::size_t next = index_ + static_cast<std::size_t>(item + 1) * sizeof(Entry);
    const uint64_t end = number(next + offsetof(Entry, begin));
    if (end < begin || end > index_) return false;
    if (end == begin) unread_.push_back(item);
    begin = end;
  }
  return true;
}

std::span<const std::byte> CacheFile::record(int64_t item) const noexcept {
  const std::size_t at = index_ + static_cast<std::size_t>(item) * sizeof(Entry);
  const uint64_t begin = number(at + offsetof(Entry, begin));
  return file_.bytes().subspan(begin, number(at + sizeof(Entry) + offsetof(Entry, begin)) - begin);
}

uint64_t CacheFile::hash(int64_t item) const noexcept {
  return number(index_ + static_cast<std::size_t>(item) * sizeof(Entry) + offsetof(Entry, hash));
}

bool CacheFile::is_whole(int64_t item) const noexcept {
  std::atomic<bool>& known = whole_[static_cast<std::size_t>(item)];
  if (known.load(std::memory_order_acquire)) return true;
  if (content_hash(record(item)) != hash(item)) return false;
  known.store(true, std::memory_order_release);
  return true;
}

bool CacheFile::mend(const fs::path& path, int64_t item, std::span<const std::byte> record) const {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.number < 0) return false;
  // Meanwhile another file may bear the name: it is written to only where it has to hold the same.
  std::array<std::byte, kHeaderSize> header{};
  if (::pread(file.number, header.data(), header.size(), 0) != static_cast<ssize_t>(header.size())) return false;
  if (std::memcmp(header.data(), file_.bytes().data(), header.size()) != 0) return false;
  const auto offset = static_cast<off_t>(this->record(item).data() - file_.bytes().data());
  return write_at(file.number, record, offset) && is_whole(item);
}

OpenedCache open_cache_file(const fs::path& path, const std::string& holds, const CacheSource& source) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed) {
    throw Error(ErrorCode::kStorage, path.parent_path().string() + ": cannot be made: " + failed.message(), "/path");
  }
  fs::path partial = path;
  partial += ".partial";
  bool told = false;
  std::string why;
  while (true) {
    if (std::optional<CacheFile> there = find_equal(path, holds, source, why)) return {std::move(*there), ""};
    Writer writer(partial);
    const bool alone = writer.lock([&] {
      if (!std::exchange(told, true)) source.waits();
    });
    if (!alone) continue;
    try {
      if (std::optional<CacheFile> there = find_equal(path, holds, source, why)) {
        fs::remove(partial, failed);
        return {std::move(*there), ""};
      }
      write_all(writer, holds, source.fill);
      // Mapped before it has its name, under which another process may put another file at any time.
      std::optional<CacheFile> made = CacheFile::open(partial, holds, source.items);
      if (!made) throw Error(ErrorCode::kStorage, partial.string() + ": does not hold what was written to it", "/path");
      writer.rename_to(path);
      return {std::move(*made), why.empty() ? why : path.string() + ": " + why + ", and was made anew"};
    } catch (...) {
      fs::remove(partial, failed);
      throw;
    }
  }
}

}  // namespace tenon::datasets
