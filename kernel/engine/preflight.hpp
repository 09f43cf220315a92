// Every stage of a run tried once, before anything is trained.
#pragma once

#include <filesystem>
#include <optional>

#include <core/storage/checkpoint.hpp>
#include <engine/engine.hpp>

namespace tenon::engine {

/// A folder within that of the runs, gone with this object.
class ScratchFolder {
 public:
  /// \throws PlacedError (kStorage) at "run.dir".
  explicit ScratchFolder(const RunRequest& request);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  bool made_parent_ = false;
  std::filesystem::path parent_;
  std::filesystem::path path_;
};

/// The request of a run that tries each stage of another: in `folder`, shown to nobody, one batch of each validation and
/// of the test.
[[nodiscard]] RunRequest trial_of(const RunRequest& request, const std::filesystem::path& folder);

/// What a trial threw, as an error that says that nothing was trained yet.
[[nodiscard]] PlacedError found_in_preflight(const PlacedError& error);

}  // namespace tenon::engine
