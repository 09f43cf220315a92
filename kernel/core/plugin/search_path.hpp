// Where plugins are looked for, and which folders and files are trusted.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenon::core {

/// Who named a folder.
enum class FolderOrigin { kArgument, kEnvironment, kUser, kInstall };

struct SearchFolder {
  std::filesystem::path path;  ///< Absolute. A folder, or one plugin's file where an argument names it.
  FolderOrigin origin = FolderOrigin::kArgument;
  bool trusted = false;  ///< Foreign owners and group-writable are accepted; world-writable never is.
};

/// What the command line says about plugins.
struct SearchOptions {
  std::vector<std::filesystem::path> plugin_paths;  ///< --plugin-path, in order; relative ones count from here.
  std::vector<std::filesystem::path> trusted;       ///< --trust-dir
};

/// Folders in order of precedence: --plugin-path, TENON_PLUGIN_PATH, ~/.local/share/tenon/plugins
/// (XDG_DATA_HOME is honoured), the install's own lib/tenon/plugins. The current directory is never among them unless
/// an argument says so.
struct SearchPath {
  std::vector<SearchFolder> folders;
  std::vector<std::string> warnings;  ///< Entries of TENON_PLUGIN_PATH that were left out, and why.

  /// From the command line, the environment and the running program's place.
  /// \throws Error (kConfig) for an argument that does not exist.
  [[nodiscard]] static SearchPath standard(const SearchOptions& options = {});

  /// These folders alone.
  [[nodiscard]] static SearchPath of(const std::vector<std::filesystem::path>& folders);
};

/// The folder of this very library, lib in an install; where it is not known, lib beside the folder of /proc/self/exe.
[[nodiscard]] std::filesystem::path install_library_folder();

/// Empty when `path` (a file or a folder) may be trusted: owned by root or this user, not writable for group or others.
/// Otherwise the reason with the fix. `trusted` as in SearchFolder. \throws Refusal ("unreadable").
[[nodiscard]] std::string distrust(const std::filesystem::path& path, bool trusted);

}  // namespace tenon::core
