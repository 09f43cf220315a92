// Write beside, sync, rename.
#include <core/storage/atomic_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace tenon::core {
namespace {

constexpr std::string_view kTemporaryMark = ".tmp-";

std::string size_text(uint64_t bytes) {
  constexpr double kMebi = 1024.0 * 1024.0;
  return bytes < 1024 * 1024 ? fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024.0)
                             : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMebi);
}

bool is_temporary(std::string_view name) {
  const std::size_t mark = name.rfind(kTemporaryMark);
  if (name.empty() || name.front() != '.' || mark == std::string_view::npos) return false;
  const std::string_view rest = name.substr(mark + kTemporaryMark.size());
  return !rest.empty() && std::ranges::all_of(rest, [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
}

uint64_t free_bytes(const std::filesystem::path& folder) {
  struct statvfs status = {};
  if (::statvfs(folder.c_str(), &status) != 0) throw storage_error("ask for the free space of", folder, errno);
  return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace

std::filesystem::path temporary_beside(const std::filesystem::path& path, int attempt) {
  std::filesystem::path beside = path;
  beside.replace_filename(fmt::format(".{}{}{}-{}", path.filename().string(), kTemporaryMark, ::getpid(), attempt));
  return beside;
}

void remove_temporaries(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (!is_temporary(entries->path().filename().string())) continue;
    std::error_code failure;
    std::filesystem::remove_all(entries->path(), failure);
    if (failure) throw storage_error("remove", entries->path(), failure.value());
  }
  if (error && error != std::errc::no_such_file_or_directory) throw storage_error("list", folder, error.value());
}

AtomicFile::AtomicFile(std::filesystem::path path, std::string_view setting)
    : path_(std::move(path)), setting_(setting) {
  int attempt = 0;
  do {
    temporary_ = temporary_beside(path_, attempt++);
    file_ = FileDescriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  } while (!file_ && errno == EEXIST);
  if (!file_) throw storage_error("write", path_, errno, setting_);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::replace_head(std::string_view text) {
  if (::lseek(file_.get(), 0, SEEK_SET) < 0) throw storage_error("write", path_, errno, setting_);
  write(text);
  if (::lseek(file_.get(), 0, SEEK_END) < 0) throw storage_error("write", path_, errno, setting_);
}

void AtomicFile::commit() {
  if (::fsync(file_.get()) != 0) throw storage_error("write", path_, errno, setting_);
  if (const int error = file_.close(); error != 0) throw storage_error("write", path_, error, setting_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw storage_error("write", path_, errno, setting_);
  temporary_.clear();
  sync_folder(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."), setting_);
}

HiddenFolder::HiddenFolder(const std::filesystem::path& final_path) {
  int attempt = 0;
  int result = 0;
  do {
    path_ = temporary_beside(final_path, attempt++);
    result = ::mkdir(path_.c_str(), 0777);
  } while (result != 0 && errno == EEXIST);
  if (result != 0) throw storage_error("make the folder", path_, errno);
}

HiddenFolder::~HiddenFolder() {
  std::error_code ignored;  // what stays is hidden, and remove_temporaries() takes it later
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

void write_atomically(const std::filesystem::path& path, std::string_view text, std::string_view setting) {
  AtomicFile file(path, setting);
  file.write(text);
  file.commit();
}

void require_space(const std::filesystem::path& folder, uint64_t bytes) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw storage_error("make the folder", folder, failure.value());
  AtomicFile probe(folder / "space");
  probe.write(" ");
  const auto fail = [&] {
    return Error(
        ErrorCode::kStorage,
        fmt::format("not enough space in {}: {} are needed for a checkpoint, {} are free (free some space there, "
                    "or choose another place with run.dir)",
                    folder.string(), size_text(bytes), size_text(free_bytes(folder))));
  };
  if (bytes > static_cast<uint64_t>(INT64_MAX)) throw fail();
  if (bytes == 0) return;
  const int descriptor = ::open(probe.temporary().c_str(), O_WRONLY | O_CLOEXEC);
  const FileDescriptor reserved(descriptor);
  if (!reserved) throw storage_error("write", folder, errno);
  if (::fallocate(reserved.get(), 0, 0, static_cast<off_t>(bytes)) == 0) return;
  switch (errno) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: throw fail();
    case EOPNOTSUPP:  // the file system cannot reserve: its own figure must do
    case ENOSYS:
      if (free_bytes(folder) < bytes) throw fail();
      return;
    default: throw storage_error("reserve space in", folder, errno);
  }
}

}  // namespace tenon::core
