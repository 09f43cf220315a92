// Folders of plugins, and whom they may belong to.
#include <core/plugin/search_path.hpp>

#include <dlfcn.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <core/plugin/refusal.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

/// Lies in this library for certain; a function's address may be one of the program's own.
const char kPlaceInLibrary = 0;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

fs::path user_data_folder() {
  if (fs::path data = variable("XDG_DATA_HOME"); data.is_absolute()) return data;
  if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".local/share";
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr ? fs::path() : fs::path(entry->pw_dir) / ".local/share";
}

std::string user_name(uid_t id) {
  const passwd* entry = ::getpwuid(id);
  return entry == nullptr ? fmt::format("user {}", id) : fmt::format("user {}", entry->pw_name);
}

void add_environment(SearchPath& path) {
  const std::string text = variable("TENON_PLUGIN_PATH");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const fs::path entry = rest.substr(0, colon);
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    if (entry.empty()) continue;  // would mean the current directory elsewhere
    std::error_code error;
    if (!entry.is_absolute()) {
      path.warnings.push_back(
          fmt::format("TENON_PLUGIN_PATH: {} is left out: only absolute paths count there", entry.string()));
    } else if (!fs::exists(entry, error)) {
      path.warnings.push_back(fmt::format("TENON_PLUGIN_PATH: {} is not there", entry.string()));
    } else {
      path.folders.push_back({entry, FolderOrigin::kEnvironment, false});
    }
  }
}

bool is_within(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(path, error);
  if (error) return false;
  const fs::path outer = fs::weakly_canonical(folder, error);
  if (error) return false;
  const fs::path relative = inner.lexically_relative(outer);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

SearchPath SearchPath::standard(const SearchOptions& options) {
  SearchPath path;
  for (const fs::path& entry : options.plugin_paths) {
    std::error_code error;
    if (entry.empty() || !fs::exists(entry, error)) {
      throw Error(ErrorCode::kConfig, fmt::format("--plugin-path {}: there is no such folder or file", entry.string()));
    }
    path.folders.push_back({fs::absolute(entry).lexically_normal(), FolderOrigin::kArgument, false});
  }
  for (const fs::path& entry : options.trusted) {
    std::error_code error;
    if (entry.empty() || !fs::is_directory(entry, error)) {
      throw Error(ErrorCode::kConfig, fmt::format("--trust-dir {}: there is no such folder", entry.string()));
    }
  }
  add_environment(path);
  if (const fs::path data = user_data_folder(); !data.empty()) {
    path.folders.push_back({data / "tenon/plugins", FolderOrigin::kUser, false});
  }
  // Whoever can write here can write the running program too, so nothing is gained by distrust.
  path.folders.push_back({install_library_folder() / "tenon/plugins", FolderOrigin::kInstall, true});
  for (SearchFolder& folder : path.folders) {
    for (const fs::path& entry : options.trusted) {
      folder.trusted = folder.trusted || is_within(folder.path, entry);
    }
  }
  return path;
}

SearchPath SearchPath::of(const std::vector<std::filesystem::path>& folders) {
  SearchPath path;
  for (const fs::path& folder : folders) {
    path.folders.push_back({fs::absolute(folder), FolderOrigin::kArgument, false});
  }
  return path;
}

std::filesystem::path install_library_folder() {
  Dl_info info = {};
  std::error_code error;
  if (::dladdr(&kPlaceInLibrary, &info) != 0 && info.dli_fname != nullptr) {
    const fs::path library = fs::canonical(info.dli_fname, error);
    if (!error) return library.parent_path();
  }
  return fs::canonical("/proc/self/exe").parent_path().parent_path() / "lib";
}

std::string distrust(const std::filesystem::path& path, bool trusted) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    throw Refusal("unreadable",
                  fmt::format("cannot read {}: {}", path.string(), std::system_category().message(errno)));
  }
  if ((status.st_mode & S_IWOTH) != 0) {
    return fmt::format("{} can be written by everybody, so its code cannot be trusted: chmod o-w {}", path.string(),
                       path.string());
  }
  const bool is_owned = status.st_uid == 0 || status.st_uid == ::geteuid();
  if (trusted || (is_owned && (status.st_mode & S_IWGRP) == 0)) return {};
  const std::string folder = (S_ISDIR(status.st_mode) ? path : path.parent_path()).string();
  if (!is_owned) {
    return fmt::format("{} belongs to {}, neither to root nor to you: if you trust them, say --trust-dir {}",
                       path.string(), user_name(status.st_uid), folder);
  }
  return fmt::format("{} can be written by its group: chmod g-w {}, or if you trust them say --trust-dir {}",
                     path.string(), path.string(), folder);
}

}  // namespace tenon::core
