// The central directory by its specification; zlib for what is deflated.
#include <files/zip_file.hpp>

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

constexpr uint64_t kEndSize = 22;      // of the end of central directory record, without its comment
constexpr uint64_t kLocatorSize = 20;  // of the zip64 locator before it
constexpr uint64_t kCentralSize = 46;  // of a central directory header, without name, extra field and comment
constexpr uint64_t kLocalSize = 30;    // of a local header, likewise
constexpr uint64_t kLongComment = 0xFFFF;
constexpr uint64_t kWide = 0xFFFFFFFF;  // stands for a number in the zip64 extra field

class RawInflater {
 public:
  RawInflater() {
    if (::inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw Error(ErrorCode::kMemory, "zlib cannot be started");
  }
  RawInflater(const RawInflater&) = delete;
  RawInflater& operator=(const RawInflater&) = delete;
  ~RawInflater() { ::inflateEnd(&stream_); }

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

/// Whether `packed` unpacks to exactly the bytes of `to`.
bool unpack(std::span<const std::byte> packed, std::span<std::byte> to) {
  RawInflater inflater;
  z_stream& stream = inflater.stream();
  std::size_t read = 0;
  std::size_t written = 0;
  int verdict = Z_OK;
  std::byte beyond{};  // an empty output would stop zlib before it has seen the end
  while (verdict == Z_OK) {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    const auto input = static_cast<uInt>(std::min(packed.size() - read, kMost));
    const bool full = written == to.size();
    const auto output = full ? uInt{1} : static_cast<uInt>(std::min(to.size() - written, kMost));
    stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + read));  // zlib does not write there
    stream.avail_in = input;
    stream.next_out = reinterpret_cast<Bytef*>(full ? &beyond : to.data() + written);
    stream.avail_out = output;
    verdict = ::inflate(&stream, Z_NO_FLUSH);
    read += input - stream.avail_in;
    if (full && stream.avail_out == 0) return false;
    if (!full) written += output - stream.avail_out;
  }
  return verdict == Z_STREAM_END && written == to.size();
}

uint32_t checksum(std::span<const std::byte> data) {
  return static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
}

}  // namespace

ZipFile::ZipFile(const std::filesystem::path& path, std::string pointer)
    : name_(path.string()), pointer_(std::move(pointer)), file_(path, pointer_) {
  read_directory();
}

void ZipFile::fail(const std::string& why) const { throw Error(ErrorCode::kData, name_ + ": " + why, pointer_); }

std::span<const std::byte> ZipFile::part(uint64_t offset, uint64_t size) const {
  const std::span<const std::byte> all = file_.bytes();
  if (offset > all.size() || size > all.size() - offset) fail("is cut off or damaged: get the file again");
  return all.subspan(offset, size);
}

uint64_t ZipFile::number(uint64_t offset, unsigned bytes) const {
  uint64_t value = 0;
  const std::span<const std::byte> from = part(offset, bytes);
  for (unsigned i = bytes; i-- > 0;) value = value << 8U | std::to_integer<uint64_t>(from[i]);
  return value;
}

/// Offset of the end of central directory record, behind which there may be a comment.
uint64_t ZipFile::find_end() const {
  constexpr uint64_t kSignature = 0x06054B50;
  const uint64_t size = file_.bytes().size();
  if (size < 4 || number(0, 2) != 0x4B50) fail("is no zip archive, and so no .npz: it does not begin with PK");
  for (uint64_t comment = 0; comment <= kLongComment && comment + kEndSize <= size; ++comment) {
    const uint64_t at = size - kEndSize - comment;
    if (number(at, 4) == kSignature && number(at + 20, 2) == comment) return at;
  }
  fail("is cut off: the directory at the end of the archive is missing: get the file again");
}

void ZipFile::read_directory() {
  const uint64_t end = find_end();
  uint64_t count = number(end + 10, 2);
  uint64_t at = number(end + 16, 4);
  if ((count == 0xFFFF || at == kWide) && end >= kLocatorSize && number(end - kLocatorSize, 4) == 0x07064B50) {
    const uint64_t wide_end = number(end - kLocatorSize + 8, 8);
    if (number(wide_end, 4) != 0x06064B50) fail("its directory is damaged: get the file again");
    count = number(wide_end + 32, 8);
    at = number(wide_end + 48, 8);
  }
  for (uint64_t i = 0; i < count; ++i) {
    entries_.push_back(read_entry(at));
    at += kCentralSize + number(at + 28, 2) + number(at + 30, 2) + number(at + 32, 2);
  }
}

ZipEntry ZipFile::read_entry(uint64_t offset) const {
  if (number(offset, 4) != 0x02014B50) fail("its directory is damaged: get the file again");
  ZipEntry entry;
  entry.flags = static_cast<uint16_t>(number(offset + 8, 2));
  entry.method = static_cast<uint16_t>(number(offset + 10, 2));
  entry.crc = static_cast<uint32_t>(number(offset + 16, 4));
  entry.packed = number(offset + 20, 4);
  entry.size = number(offset + 24, 4);
  entry.offset = number(offset + 42, 4);
  const uint64_t name_size = number(offset + 28, 2);
  const std::span<const std::byte> name = part(offset + kCentralSize, name_size);
  entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  widen(entry, offset + kCentralSize + name_size, number(offset + 30, 2));
  return entry;
}

/// Numbers that do not fit into 32 bits stand in an extra field, one behind the other.
void ZipFile::widen(ZipEntry& entry, uint64_t extra, uint64_t extra_size) const {
  const uint64_t end = extra + extra_size;
  while (extra + 4 <= end) {
    const uint64_t id = number(extra, 2);
    uint64_t at = extra + 4;
    extra = at + number(extra + 2, 2);
    if (id != 1) continue;
    for (uint64_t* const value : {&entry.size, &entry.packed, &entry.offset}) {
      if (*value != kWide || at + 8 > extra) continue;
      *value = number(at, 8);
      at += 8;
    }
  }
}

std::span<const std::byte> ZipFile::content(const ZipEntry& entry, std::vector<std::byte>& memory) const {
  const auto refuse = [&](const std::string& why) { fail("the array \"" + entry.name + "\" " + why); };
  if ((entry.flags & 1U) != 0) refuse("is encrypted: save it without a password");
  if (number(entry.offset, 4) != 0x04034B50) refuse("is damaged: get the file again");
  const uint64_t begin = entry.offset + kLocalSize + number(entry.offset + 26, 2) + number(entry.offset + 28, 2);
  const std::span<const std::byte> packed = part(begin, entry.packed);
  std::span<const std::byte> data = packed;
  constexpr uint16_t kStored = 0;
  constexpr uint16_t kDeflated = 8;
  if (entry.method == kDeflated) {
    constexpr uint64_t kBestRatio = 1040;  // of deflate is 1032: a directory that promises more is damaged
    if (entry.size / kBestRatio > entry.packed) refuse("is damaged: get the file again");
    memory.resize(entry.size);
    if (!unpack(packed, memory)) refuse("is damaged: get the file again");
    data = memory;
  } else if (entry.method != kStored || entry.packed != entry.size) {
    refuse("is packed by method " + std::to_string(entry.method) +
           ": save it by numpy.savez or numpy.savez_compressed, which store or deflate");
  }
  if (checksum(data) != entry.crc) refuse("is damaged: its checksum is wrong: get the file again");
  return data;
}

}  // namespace tenon::datasets
