// Every stage of a run tried once, before anything is trained.
#pragma once

#include <filesystem>
#include <optional>

#include <core/storage/file.hpp>
#include <core/storage/scratch_folder.hpp>
#include <engine/engine.hpp>

namespace tenon::engine {

/// Where a trial of a run puts its files: within the folder of the runs, whose disk they are to fit on. Gone with this
/// object, as is the folder of the runs where it was made for this. A process that crashes in its trial, or is killed,
/// leaves its folder to the next trial there, which removes it; the folder of one that runs is locked and stays.
class TrialFolder {
 public:
  /// \throws PlacedError at "run.dir".
  explicit TrialFolder(const RunRequest& request);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return scratch_->path(); }

 private:
  /// Removes the folder that it made, unless something lies in it by then.
  struct Parent {
    ~Parent();

    std::filesystem::path path;
    bool made = false;
  };

  Parent parent_;
  core::FileDescriptor lock_;
  std::optional<core::ScratchFolder> scratch_;  // goes first
};

/// The request of a run that tries each stage of another: in `folder`, shown to nobody, one batch of each validation and
/// of the test.
[[nodiscard]] RunRequest trial_of(const RunRequest& request, const std::filesystem::path& folder);

/// What a trial threw, as an error that says that nothing was trained yet.
[[nodiscard]] PlacedError found_in_preflight(const PlacedError& error);

}  // namespace tenon::engine
