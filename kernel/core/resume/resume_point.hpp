// Where a run can go on: the words of --resume, the checkpoint that they lead to, and the run made ready for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/resume/log_cut.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/run_directory.hpp>

namespace tenon::core {

enum class ResumeMode : uint8_t {
  kNever,  ///< A new run.
  kAuto,   ///< The newest run where it can go on, else a new one.
  kMust,   ///< The newest run, or an error.
  kPath,   ///< The run directory or checkpoint of that path.
};

struct ResumeRequest {
  ResumeMode mode = ResumeMode::kNever;
  std::filesystem::path path;  ///< Of kPath.
};

/// "auto", "never", "must", or a path that is there ("./auto" for a folder of that name). \throws Error (kConfig) that
/// lists what there is to say.
[[nodiscard]] ResumeRequest parse_resume(std::string_view text);

/// A checkpoint that verifies, and the run that it belongs to. Movable.
struct ResumePoint {
  RunDirectory directory;  ///< Locked.
  Checkpoint checkpoint;
  bool branch = false;               ///< The run has gone on from there: what follows needs a directory of its own.
  std::vector<std::string> damaged;  ///< One message for each newer checkpoint that does not verify.
  bool finished = false;             ///< The run had come to its end: the last event of its log is "run_end".
};

/// Looks for the place that `request` means among the runs of that name in `runs`. Nothing on disk changes, except that
/// temporary files which a killed process left in the run are removed.
///   never  nothing
///   auto   the newest run's newest checkpoint that verifies; nothing where that run is finished or has none
///   must   likewise, but an error that says what there is instead
///   path   a run directory: its newest checkpoint that verifies, finished or not; a checkpoint: exactly that one,
/// which
///          branches off where the run has a newer one that verifies
/// Where "auto" gives nothing although there is a run of that name, `why_not` receives the reason, for people.
/// \throws Error: kCheckpoint where there is nothing to go on from, kStorage for a run that a live process holds.
[[nodiscard]] std::optional<ResumePoint> find_resume_point(const std::filesystem::path& runs, const std::string& name,
                                                           const ResumeRequest& request,
                                                           std::string* why_not = nullptr);

/// Makes the run as it was when the checkpoint was written and returns the directory to go on in, locked. Damaged newer
/// checkpoints are renamed aside ("step-000200.damaged", ".damaged-2", …), the log is cut, crash.json becomes
/// crash-1.json, crash-2.json, ….
///
/// A branch gets a new run directory of that name beside: its configuration and descriptions, the checkpoint, the best
/// one where index.json names one at or before that step and it verifies, index.json and log up to there. The old run
/// keeps every byte, and point.checkpoint becomes the copy.
///
/// index.json of a run that is no branch is left to CheckpointIndex::rewind(). May be repeated after a kill.
/// \throws Error (kStorage, kCheckpoint).
[[nodiscard]] RunDirectory rewind(ResumePoint& point);

}  // namespace tenon::core
