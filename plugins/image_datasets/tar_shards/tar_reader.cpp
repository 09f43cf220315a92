// Headers by POSIX.1-2001 (pax) and the GNU tar manual.
#include <tar_shards/tar_reader.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <decode/bytes.hpp>
#include <files/unreadable.hpp>
#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

constexpr std::size_t kBlock = 512;

/// Enough for a header, the head of its file, and small files with their headers behind it.
constexpr std::size_t kBuffer = 4096;

std::string field(Bytes header, std::size_t at, std::size_t size) {
  const std::string_view whole = text_of(header.subspan(at, size));
  return std::string(whole.substr(0, whole.find('\0')));
}

/// Octal digits, or where the highest bit is set, big-endian; nothing for another text.
std::optional<uint64_t> number(Bytes header, std::size_t at, std::size_t size) {
  uint64_t value = 0;
  if ((std::to_integer<unsigned>(header[at]) & 0x80U) != 0) {
    for (std::size_t i = size - 8; i < size; ++i) value = value << 8U | std::to_integer<uint64_t>(header[at + i]);
    return value >> 63U != 0 ? std::nullopt : std::optional(value);
  }
  std::string_view digits = text_of(header.subspan(at, size));
  digits = digits.substr(0, digits.find('\0'));
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  if (digits.empty()) return 0;
  const auto [stopped, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  return error == std::errc() && stopped == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

bool is_zero(Bytes block) {
  return std::all_of(block.begin(), block.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

/// The sum of all bytes, those of the checksum itself counted as blanks.
bool checksum_fits(Bytes header) {
  constexpr std::size_t kAt = 148;
  constexpr std::size_t kSize = 8;
  uint64_t sum = kSize * ' ';
  for (std::size_t i = 0; i < kBlock; ++i) {
    if (i < kAt || i >= kAt + kSize) sum += std::to_integer<uint64_t>(header[i]);
  }
  return number(header, kAt, kSize) == sum;
}

std::string name_of(Bytes header) {
  const std::string name = field(header, 0, 100);
  const std::string prefix = has(header, 257, "ustar") && header[262] == std::byte{0} ? field(header, 345, 155) : "";
  return prefix.empty() ? name : prefix + "/" + name;
}

/// What unpacks a file that begins so; nothing for one that is not packed.
std::optional<std::string_view> unpacker_of(Bytes begin) {
  using Packer = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Packer, 4> kPackers{Packer{"\x1f\x8b", "gunzip"},
                                           {"\x28\xb5\x2f\xfd", "unzstd"},
                                           {"\xfd"
                                            "7zXZ",
                                            "unxz"},
                                           {"BZh", "bunzip2"}};
  for (const auto& [magic, tool] : kPackers) {
    if (text_of(begin).starts_with(magic)) return tool;
  }
  return std::nullopt;
}

uint64_t padded(uint64_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

}  // namespace

TarFile::TarFile(const std::filesystem::path& path, const std::string& pointer)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {  // else a pipe would wait for a writer
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    const int number = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw datasets::unreadable(path.string(), number, pointer);
  }
  std::string why;
  if (S_ISDIR(status.st_mode)) {
    why = "is a folder, but an archive is wanted: name its files, as in " + (path / "*.tar").string();
  } else if (!S_ISREG(status.st_mode)) {
    why = "is no regular file";
  }
  if (!why.empty()) {
    ::close(descriptor_);
    throw Error(ErrorCode::kData, path.string() + ": " + why, pointer);
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

TarFile::TarFile(TarFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(std::exchange(other.size_, 0)) {}

TarFile::~TarFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t TarFile::read(uint64_t offset, std::span<std::byte> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t count = ::pread(descriptor_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw datasets::unreadable({}, errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void TarFile::expect(uint64_t offset, uint64_t size) const noexcept {
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

TarReader::TarReader(const TarFile& file, std::string name, std::string pointer)
    : file_(file), name_(std::move(name)), pointer_(std::move(pointer)) {}

void TarReader::fail(uint64_t offset, const std::string& why) const {
  throw Error(ErrorCode::kData, at_byte(offset, why), pointer_);
}

std::string TarReader::at_byte(uint64_t offset, const std::string& what) const {
  return name_ + ": at byte " + std::to_string(offset) + ": " + what;
}

/// Up to `size` bytes from a place on, fewer at the end of the file; valid until the next call.
std::span<const std::byte> TarReader::bytes(uint64_t offset, std::size_t size) {
  const uint64_t end = std::min(offset + size, file_.size());
  if (offset < buffer_offset_ || end > buffer_offset_ + buffer_.size()) {
    buffer_.resize(std::max(kBuffer, size));
    try {
      buffer_.resize(file_.read(offset, buffer_));
    } catch (const Error& error) {
      throw Error(error.code(), at_byte(offset, error.what()), pointer_);
    }
    buffer_offset_ = offset;
  }
  const std::span<const std::byte> there = std::span<const std::byte>(buffer_).subspan(offset - buffer_offset_);
  return there.first(std::min(size, there.size()));
}

/// What a header of the archive's own carries: small, unless it is damaged.
std::string TarReader::text(uint64_t offset, uint64_t size) {
  constexpr uint64_t kMost = uint64_t{1} << 20U;
  if (size > kMost) fail(offset, "is damaged: a name of " + std::to_string(size) + " bytes");
  const std::span<const std::byte> all = bytes(offset, static_cast<std::size_t>(size));
  if (all.size() < size) fail(offset, "is cut off: get the file again");
  return std::string(text_of(all));
}

/// Records "length key=value\n".
void TarReader::read_pax(uint64_t offset, uint64_t size, Override& override) {
  const std::string all = text(offset, size);
  for (std::string_view rest = all; !rest.empty() && rest.front() != '\0';) {
    std::size_t length = 0;
    const auto [stopped, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(stopped - rest.data());
    if (error != std::errc() || length > rest.size() || length < digits + 3) fail(offset, "its pax header is damaged");
    const std::string_view record = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    const std::size_t equals = record.find('=');
    const std::string_view key = record.substr(0, equals);
    if (equals == std::string_view::npos) fail(offset, "its pax header is damaged");
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") override.name = value;
    if (key != "size") continue;
    const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), override.size);
    if (wrong != std::errc() || end != value.data() + value.size() || override.size < 0) {
      fail(offset, "its pax header is damaged");
    }
  }
}

bool TarReader::next(TarMember& member) {
  Override override;
  while (at_ < file_.size()) {
    const uint64_t header_at = at_;
    const std::span<const std::byte> block = bytes(header_at, kBlock + kHead);
    if (const auto tool = header_at == 0 ? unpacker_of(block) : std::nullopt) {
      throw Error(ErrorCode::kData,
                  name_ + ": is packed, so that no sample can be read where it lies: unpack it with " +
                      std::string(*tool) + ", and name the archive that this makes",
                  pointer_);
    }
    if (block.size() < kBlock) fail(header_at, "is cut off within a header: get the file again");
    const Bytes header = block.first(kBlock);
    if (is_zero(header)) {
      has_end_mark_ = true;
      return false;
    }
    if (!checksum_fits(header)) {
      fail(header_at, header_at == 0 ? "is no tar archive" : "a header is damaged: get the file again");
    }
    const std::optional<uint64_t> said = number(header, 124, 12);
    const auto type = static_cast<char>(header[156]);
    constexpr std::string_view kEmpty = "123456";  // links, devices, folders, pipes: what size says lies nowhere
    uint64_t size = kEmpty.find(type) != std::string_view::npos ? 0 : said.value_or(0);
    const bool regular = type == '0' || type == '\0' || type == '7';
    if (regular && override.size >= 0) size = static_cast<uint64_t>(override.size);
    const uint64_t data = header_at + kBlock;
    if (!said || size > (uint64_t{1} << 62U)) fail(header_at, "a header is damaged: get the file again");
    if (size > file_.size() - data) {
      const std::string name = override.name.empty() ? name_of(header) : override.name;
      fail(header_at, "is cut off: " + (name.empty() ? "a file without a name" : "\"" + name + "\"") + " has " +
                          std::to_string(size) + " bytes, and " + std::to_string(file_.size() - data) +
                          " are there: get the file again");
    }
    at_ = std::min(data + padded(size), file_.size());
    if (regular) {
      member.name = override.name.empty() ? name_of(header) : override.name;
      member.offset = data;
      member.size = size;
      member.head =
          block.subspan(kBlock, std::min<std::size_t>(block.size() - kBlock, std::min<uint64_t>(size, kHead)));
      return true;
    }
    switch (type) {
      case 'L': {
        const std::string name = text(data, size);
        override.name = name.substr(0, name.find('\0'));
        break;
      }
      case 'x': read_pax(data, size, override); break;
      case 'S': fail(header_at, "holds a sparse file, which is not read: pack it without --sparse");
      case 'g':
      case 'K': break;
      default: override = Override(); break;  // a folder or a link
    }
  }
  return false;
}

std::string member_name(const TarFile& file, uint64_t offset) {
  std::array<std::byte, kBlock> header{};
  if (offset < kBlock || file.read(offset - kBlock, header) < kBlock || !checksum_fits(header)) return "";
  return name_of(header);
}

}  // namespace tenon::image_datasets
