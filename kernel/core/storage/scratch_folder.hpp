// A folder for work that nobody keeps.
#pragma once

#include <filesystem>
#include <string_view>

namespace tenon::core {

/// A new folder for this user alone; it goes with all that is in it.
class ScratchFolder {
 public:
  /// In `parent`, under a name that begins with `prefix`. \throws Error (kStorage).
  ScratchFolder(const std::filesystem::path& parent, std::string_view prefix);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tenon::core
