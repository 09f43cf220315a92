// Run directories: numbered without races, locked by an open file description.
#include <core/storage/run_directory.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/storage/atomic_file.hpp>
#include <core/storage/canonical_json.hpp>

namespace tenon::core {
namespace {

constexpr const char* kLock = ".lock";

std::optional<int64_t> number_of_run(const std::string& name) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (name.empty() || error != std::errc() || end != name.data() + name.size() || number < 1) return {};
  return number;
}

bool is_run_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos;
}

void make_folders(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw storage_error("make the folder", folder, error.value());
}

struct flock whole_file(int type) {
  struct flock lock = {};
  lock.l_type = static_cast<decltype(lock.l_type)>(type);
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Locks of the open file description: they end with the process, hold within it too, and can be asked for.
bool try_lock(const FileDescriptor& file) {
  struct flock lock = whole_file(F_WRLCK);
  return ::fcntl(file.get(), F_OFD_SETLK, &lock) == 0;
}

/// Another run, or a file of somebody, has the name.
bool is_taken(const std::filesystem::path& path, int error) {
  std::error_code ignored;
  return error == ENOTEMPTY || error == EEXIST || (error == ENOTDIR && std::filesystem::exists(path, ignored));
}

std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (entries->is_directory(ignored)) found.push_back(entries->path());
  }
  if (error && error != std::errc::no_such_file_or_directory) throw storage_error("list", folder, error.value());
  std::ranges::sort(found);
  return found;
}

bool is_same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Where an open folder is by now; empty where it was removed.
std::filesystem::path place_of(const FileDescriptor& folder) {
  std::error_code error;
  std::filesystem::path place = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", folder.get()), error);
  struct stat named = {};
  struct stat opened = {};
  const bool there = !error && ::stat(place.c_str(), &named) == 0 && ::fstat(folder.get(), &opened) == 0;
  return there && is_same(named, opened) ? place : std::filesystem::path();
}

}  // namespace

void require_possible_name(const std::filesystem::path& runs) {
  if (runs.native().find('\0') == std::string::npos) return;
  throw Error(ErrorCode::kConfig, "the folder of the runs has a name with a NUL character, which no file can have");
}

RunDirectory::RunDirectory(std::filesystem::path path, int64_t number, FileDescriptor lock)
    : path_(std::move(path)),
      number_(number),
      lock_(std::move(lock)),
      folder_(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!folder_) throw storage_error("open the folder", path_, errno);
}

RunDirectory RunDirectory::create(const std::filesystem::path& runs, const std::string& name) {
  if (!is_run_name(name)) {
    throw Error(ErrorCode::kConfig,
                fmt::format("\"{}\" cannot name a run: use letters, digits, \"_\" and \"-\"", name));
  }
  require_possible_name(runs);
  const std::filesystem::path family = std::filesystem::absolute(runs) / name;
  make_folders(family);
  // Complete and locked under a hidden name first: nobody sees a run without its lock.
  HiddenFolder hidden(family / "run");
  make_folders(hidden.path() / "checkpoints");
  make_folders(hidden.path() / "exports");
  FileDescriptor lock(::open((hidden.path() / kLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock || !try_lock(lock)) throw storage_error("lock", hidden.path(), errno);
  int64_t number = 1;
  for (const RunPlace& place : list_runs(runs, name)) {
    number = std::max(number, place.number + 1);
  }
  std::filesystem::path path = family / fmt::format("{:04}", number);
  // A run is never empty, so renaming over one that another process has just made fails.
  while (std::rename(hidden.path().c_str(), path.c_str()) != 0) {
    if (const int error = errno; !is_taken(path, error)) throw storage_error("write", path, error);
    path = family / fmt::format("{:04}", ++number);
  }
  hidden.release();
  sync_folder(family);
  return RunDirectory(std::move(path), number, std::move(lock));
}

RunDirectory RunDirectory::open(const std::filesystem::path& path) {
  std::filesystem::path folder = std::filesystem::absolute(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // written with a "/" at the end
  const std::optional<int64_t> number = number_of_run(folder.filename().string());
  // A copy made by a tool that passes over hidden files has no lock, and is a run all the same.
  std::error_code ignored;
  const int make = std::filesystem::is_directory(folder / "checkpoints", ignored) ? O_CREAT : 0;
  FileDescriptor lock(::open((folder / kLock).c_str(), O_RDWR | O_CLOEXEC | make, 0666));
  if (!lock && errno != ENOENT && errno != ENOTDIR) throw storage_error("open the run", folder, errno);
  if (!lock || !number) {
    throw Error(ErrorCode::kCheckpoint,
                fmt::format("{} is no run directory: one is named runs/NAME/NUMBER", folder.string()));
  }
  if (!try_lock(lock)) {
    if (errno != EAGAIN && errno != EACCES) throw storage_error("lock", folder, errno);
    throw Error(
        ErrorCode::kStorage,
        fmt::format("{} belongs to a process that is running: wait for it, or start a new run", folder.string()));
  }
  remove_temporaries(folder);
  remove_temporaries(folder / "checkpoints");
  remove_temporaries(folder / "exports");
  return RunDirectory(folder, *number, std::move(lock));
}

void RunDirectory::write_json(const std::string& name, const Json& content) const {
  try {
    write_text(name, content.dump(2) + "\n");
  } catch (const Json::type_error&) {
    throw Error(ErrorCode::kStorage,
                fmt::format("cannot write {}: it holds text that is not UTF-8", (path_ / name).string()));
  }
}

void RunDirectory::write_text(const std::string& name, std::string_view text) const {
  write_atomically(path_ / name, text);
}

void RunDirectory::require_space(uint64_t checkpoint_bytes) const {
  core::require_space(checkpoints(), checkpoint_bytes);
}

void RunDirectory::require_present() const {
  struct stat named = {};
  struct stat opened = {};
  const bool there = ::stat(path_.c_str(), &named) == 0;
  // Of a file system that does not answer at all, writing tells more.
  if (!there && errno != ENOENT && errno != ENOTDIR) return;
  if (there && (::fstat(folder_.get(), &opened) != 0 || is_same(named, opened))) return;
  const std::filesystem::path place = place_of(folder_);
  if (!place.empty()) {
    throw Error(ErrorCode::kStorage,
                fmt::format("the run directory {0} was moved to {1} while the run was going: move it back, then go on "
                            "with --resume {0}",
                            path_.string(), place.string()));
  }
  throw Error(ErrorCode::kStorage,
              fmt::format("the run directory {} was removed while the run was going, and with it all that the run had "
                          "written: start a new run, and leave its directory in place until it has ended",
                          path_.string()));
}

void RunDirectory::require_files(std::span<const std::filesystem::path> files) const {
  require_present();
  std::vector<std::string> missing;
  for (const std::filesystem::path& file : files) {
    std::error_code error;
    const bool there = std::filesystem::exists(path_ / file, error);
    const std::string name = file.is_absolute() ? file.lexically_proximate(path_).string() : file.string();
    if (!there && !error && std::ranges::find(missing, name) == missing.end()) missing.push_back(name);
  }
  if (missing.empty()) return;
  throw Error(ErrorCode::kStorage,
              fmt::format("the run directory {} lacks what the run had written there: {}, removed while it was going; "
                          "start a new run, and leave its directory as it is until it has ended",
                          path_.string(), fmt::join(missing, ", ")));
}

std::vector<RunPlace> list_runs(const std::filesystem::path& runs, std::string_view name) {
  std::vector<RunPlace> places;
  for (const std::filesystem::path& family : folders_in(runs)) {
    if (!name.empty() && family.filename() != name) continue;
    const std::size_t first = places.size();
    for (const std::filesystem::path& run : folders_in(family)) {
      const std::optional<int64_t> number = number_of_run(run.filename().string());
      if (number) places.push_back({family.filename().string(), *number, run});
    }
    std::ranges::sort(places.begin() + static_cast<std::ptrdiff_t>(first), places.end(), {}, &RunPlace::number);
  }
  return places;
}

bool is_live(const std::filesystem::path& run) {
  const FileDescriptor file(::open((run / kLock).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  struct flock lock = whole_file(F_RDLCK);  // a read lock is all that a file open for reading may ask about
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace tenon::core
