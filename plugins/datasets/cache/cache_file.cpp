// The lock is one on the partial file itself, so that nothing is left of it: whoever gets it looks first whether that
// file still bears its name.
#include <cache/cache_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

namespace fs = std::filesystem;

/// Numbers of the header, eight bytes each, behind the magic.
enum HeaderNumber : std::size_t { kFileSize, kItems, kIndexOffset, kHoldsSize, kIndexHash, kHeaderHash, kNumbers };

constexpr std::string_view kMagic = "TENONCA1";
constexpr std::size_t kHeaderSize = kMagic.size() + kNumbers * sizeof(uint64_t);

constexpr std::size_t aligned(std::size_t offset) { return (offset + 63) / 64 * 64; }

class Writer {
 public:
  explicit Writer(const fs::path& path) : path_(path) {
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) fail("cannot be written");
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { ::close(file_); }

  /// True when this process is alone with the file, which still bears its name.
  bool lock(const std::function<void()>& waits) {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) waits();
      while (::flock(file_, LOCK_EX) != 0) {
        if (errno != EINTR) fail("cannot be locked");
      }
    }
    struct stat open_now {};
    struct stat named_now {};
    return ::fstat(file_, &open_now) == 0 && ::stat(path_.c_str(), &named_now) == 0 &&
           open_now.st_ino == named_now.st_ino && open_now.st_dev == named_now.st_dev;
  }

  void begin() {
    if (::ftruncate(file_, 0) != 0) fail("cannot be written");
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
    if (::fsync(file_) != 0) fail("cannot be written");
  }

  void rename_to(const fs::path& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) fail("cannot be renamed to " + path.filename().string());
    const int folder = ::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
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
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), at);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot be written");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      at += written;
    }
  }

  fs::path path_;
  int file_ = -1;
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
  std::vector<uint64_t> begins;
  fill([&](std::span<const std::byte> record) {
    begins.push_back(writer.offset());
    writer.put(record);
  });
  begins.push_back(writer.offset());
  writer.pad(aligned(writer.offset()));
  const std::size_t index = writer.offset();
  writer.put(std::as_bytes(std::span(begins)));
  writer.finish(header_of(
      {writer.offset(), begins.size() - 1, index, holds.size(), content_hash(std::as_bytes(std::span(begins))), 0}));
}

}  // namespace

uint64_t CacheFile::number(std::size_t offset) const noexcept {
  uint64_t value = 0;
  std::memcpy(&value, file_.bytes().data() + offset, sizeof(value));
  return value;
}

std::optional<CacheFile> CacheFile::find(const fs::path& path, const std::string& holds) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  CacheFile file(MappedFile(path, "/path"));
  if (!file.check(holds)) return std::nullopt;
  return file;
}

bool CacheFile::check(const std::string& holds) {
  const std::span<const std::byte> all = file_.bytes();
  if (all.size() < kHeaderSize || !file_.text().starts_with(kMagic)) return false;
  std::array<uint64_t, kNumbers> numbers{};
  std::memcpy(numbers.data(), all.data() + kMagic.size(), sizeof(numbers));
  if (numbers[kHeaderHash] != content_hash(std::as_bytes(std::span(numbers).first(kHeaderHash)))) return false;
  if (numbers[kFileSize] != all.size() || numbers[kHoldsSize] != holds.size()) return false;
  if (file_.text().substr(kHeaderSize, holds.size()) != holds) return false;
  if (numbers[kIndexOffset] > all.size()) return false;
  const std::span<const std::byte> index = all.subspan(numbers[kIndexOffset]);
  if (index.size() != (numbers[kItems] + 1) * sizeof(uint64_t) || content_hash(index) != numbers[kIndexHash]) {
    return false;
  }
  items_ = static_cast<int64_t>(numbers[kItems]);
  index_ = numbers[kIndexOffset];
  return true;
}

std::span<const std::byte> CacheFile::record(int64_t item) const noexcept {
  const std::size_t at = index_ + static_cast<std::size_t>(item) * sizeof(uint64_t);
  const uint64_t begin = number(at);
  return file_.bytes().subspan(begin, number(at + sizeof(uint64_t)) - begin);
}

CacheFile open_cache_file(const fs::path& path, const std::string& holds,
                          const std::function<void(const PutRecord&)>& fill, const std::function<void()>& waits) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed) {
    throw Error(ErrorCode::kStorage, path.parent_path().string() + ": cannot be made: " + failed.message(), "/path");
  }
  fs::path partial = path;
  partial += ".partial";
  bool told = false;
  while (true) {
    if (std::optional<CacheFile> there = CacheFile::find(path, holds)) return std::move(*there);
    Writer writer(partial);
    const bool alone = writer.lock([&] {
      if (!std::exchange(told, true)) waits();
    });
    if (!alone) continue;
    if (std::optional<CacheFile> there = CacheFile::find(path, holds)) {
      fs::remove(partial, failed);
      return std::move(*there);
    }
    try {
      write_all(writer, holds, fill);
    } catch (...) {
      fs::remove(partial, failed);
      throw;
    }
    writer.rename_to(path);
    std::optional<CacheFile> made = CacheFile::find(path, holds);
    if (!made) throw Error(ErrorCode::kStorage, path.string() + ": does not hold what was written to it", "/path");
    return std::move(*made);
  }
}

}  // namespace tenon::datasets
