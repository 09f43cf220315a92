// POSIX files with errors that a user can act on.
#include <core/storage/file.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace tenon::core {
namespace {

std::string more_open_files() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return "raise the limit of open files with ulimit -n";
  const std::string allowed = fmt::format("the limit of this process is {}", limit.rlim_cur);
  if (limit.rlim_cur < limit.rlim_max) return fmt::format("{}: raise it with ulimit -n", allowed);
  return fmt::format("{}, as is its hard limit, which an administrator raises in limits.conf or by LimitNOFILE=",
                     allowed);
}

std::string cure_of(int error, std::string_view setting) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return fmt::format("free some space there, or choose another place with {}", setting);
    case EACCES:
    case EPERM: return fmt::format("check owner and mode of the folder, or choose another place with {}", setting);
    case EROFS: return fmt::format("this place cannot be written to: choose another one with {}", setting);
    case ENOENT: return "a folder on the way is missing: was it moved while the program ran?";
    case ENAMETOOLONG: return "choose a shorter name";
    case ENOTDIR: return "a file stands where a folder is needed";
    case EIO: return "the disk reports a fault: see dmesg";
    case EMFILE: return more_open_files();
    case ENFILE: return "all programs together have too many open: end some, or raise fs.file-max";
    default: return "";
  }
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

FileDescriptor::~FileDescriptor() { close(); }

int FileDescriptor::close() noexcept {
  if (number_ < 0) return 0;
  return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno;
}

Error storage_error(std::string_view action, const std::filesystem::path& path, int error, std::string_view setting) {
  const std::string cure = cure_of(error, setting);
  return Error(ErrorCode::kStorage,
               fmt::format("cannot {} {}: {}{}", action, path.string(), std::system_category().message(error),
                           cure.empty() ? "" : fmt::format(" ({})", cure)));
}

void write_all(const FileDescriptor& file, std::span<const std::byte> bytes, const std::filesystem::path& path,
               std::string_view setting) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw storage_error("write", path, errno, setting);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void sync_folder(const std::filesystem::path& folder, std::string_view setting) {
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) throw storage_error("open the folder", folder, errno, setting);
  // Some network file systems cannot sync folders and say EINVAL: there is nothing more to be had from them.
  if (::fsync(opened.get()) != 0 && errno != EINVAL) throw storage_error("sync the folder", folder, errno, setting);
}

OpenedFile open_for_reading(const std::filesystem::path& path, ErrorCode code) {
  const auto fail = [&](std::string_view what) {
    return Error(code, fmt::format("cannot read {}: {}", path.string(), what));
  };
  // Without O_NONBLOCK a FIFO of that name would block for ever.
  OpenedFile opened{FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), 0};
  if (!opened.file && (errno == EMFILE || errno == ENFILE)) throw storage_error("open", path, errno);
  if (!opened.file) throw fail(std::system_category().message(errno));
  struct stat status = {};
  if (::fstat(opened.file.get(), &status) != 0) throw fail(std::system_category().message(errno));
  if (S_ISDIR(status.st_mode)) throw fail("it is a folder");
  if (!S_ISREG(status.st_mode)) throw fail("it is no regular file");
  opened.size = static_cast<uint64_t>(status.st_size);
  return opened;
}

void read_at(const FileDescriptor& file, uint64_t offset, std::span<std::byte> into, const std::filesystem::path& path,
             ErrorCode code) {
  while (!into.empty()) {
    const ssize_t got = ::pread(file.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(code,
                  fmt::format("cannot read {}: {}", path.string(),
                              got < 0 ? std::system_category().message(errno) : "it became shorter while being read"));
    }
    offset += static_cast<uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
}

std::string read_text(const std::filesystem::path& path, ErrorCode code, uint64_t limit) {
  const OpenedFile opened = open_for_reading(path, code);
  if (opened.size > limit) {
    throw Error(code, fmt::format("cannot read {}: it has {} bytes, at most {} are expected", path.string(),
                                  opened.size, limit));
  }
  std::string text(static_cast<std::size_t>(opened.size), '\0');
  read_at(opened.file, 0, std::as_writable_bytes(std::span(text)), path, code);
  return text;
}

}  // namespace tenon::core
