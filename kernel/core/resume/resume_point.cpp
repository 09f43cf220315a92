// Finding the checkpoint to go on from, and making its run ready.
#include <core/resume/resume_point.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/process/crash_file.hpp>
#include <core/resume/copy.hpp>
#include <core/storage/checkpoint_index.hpp>
#include <core/storage/event_log.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNewRun = "start a new run with --resume never";

Error unusable(const std::string& message) { return Error(ErrorCode::kCheckpoint, message); }

/// Absolute, without "..", and without a "/" at the end.
fs::path plain(const fs::path& path) {
  fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

bool is_finished(const RunDirectory& run) {
  const std::optional<Json> event = last_event(run.log());
  return event && event->value("event", Json()) == "run_end";
}

/// The newest run of that name; folders with a number that are no runs are passed over.
std::optional<RunDirectory> newest_run(const fs::path& runs, const std::string& name) {
  std::vector<RunPlace> places = list_runs(runs, name);
  std::ranges::reverse(places);
  for (const RunPlace& place : places) {
    try {
      return RunDirectory::open(place.path);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCheckpoint) throw;
    }
  }
  return std::nullopt;
}

std::string listed(std::span<const std::string> damaged) {
  return damaged.empty() ? "it has none" : fmt::format("none verifies: {}", fmt::join(damaged, "; "));
}

/// Without `must` the reason why there is nothing goes to `why_not`.
std::optional<ResumePoint> in_newest_run(const fs::path& runs, const std::string& name, bool must,
                                         std::string& why_not) {
  std::optional<RunDirectory> run = newest_run(runs, name);
  if (!run) {
    if (!must) return std::nullopt;
    throw unusable(
        fmt::format("there is no run of the name \"{}\" in {} to go on with: {}", name, plain(runs).string(), kNewRun));
  }
  const bool finished = is_finished(*run);
  if (finished) {
    why_not = fmt::format("the newest run of that name, {}, is finished: to train it further give its path to --resume",
                          run->path().string());
    if (!must) return std::nullopt;
    throw unusable(fmt::format("{}, or {}", why_not, kNewRun));
  }
  std::vector<std::string> damaged;
  std::optional<Checkpoint> checkpoint = newest_checkpoint(run->checkpoints(), damaged);
  if (!checkpoint) {
    why_not = fmt::format("the newest run of that name, {}, has no checkpoint to go on from ({})", run->path().string(),
                          listed(damaged));
    if (!must) return std::nullopt;
    throw unusable(fmt::format("{}: {}", why_not, kNewRun));
  }
  return ResumePoint{std::move(*run), std::move(*checkpoint), false, std::move(damaged), finished};
}

ResumePoint at_run(const fs::path& path) {
  RunDirectory run = RunDirectory::open(path);
  const bool finished = is_finished(run);
  std::vector<std::string> damaged;
  std::optional<Checkpoint> checkpoint = newest_checkpoint(run.checkpoints(), damaged);
  if (!checkpoint) {
    throw unusable(
        fmt::format("{} has no checkpoint to go on from ({}): {}", run.path().string(), listed(damaged), kNewRun));
  }
  return {std::move(run), std::move(*checkpoint), false, std::move(damaged), finished};
}

ResumePoint at_checkpoint(const fs::path& path) {
  const fs::path run_path = path.parent_path().parent_path();
  if (path.parent_path().filename() != "checkpoints") {
    throw unusable(fmt::format("{} does not lie in a run directory, runs/NAME/NUMBER/checkpoints: put it back there",
                               path.string()));
  }
  RunDirectory run = RunDirectory::open(run_path);
  Checkpoint checkpoint = read_checkpoint(path);
  std::vector<std::string> damaged;
  bool branch = false;
  std::vector<CheckpointPlace> places = list_checkpoints(run.checkpoints());
  std::ranges::reverse(places);
  for (const CheckpointPlace& place : places) {
    if (place.path.filename() == path.filename()) break;
    try {
      branch = !read_checkpoint(place.path).path().empty();
      break;
    } catch (const Error& error) {
      damaged.emplace_back(error.what());
    }
  }
  const bool finished = is_finished(run);
  return {std::move(run), std::move(checkpoint), branch, std::move(damaged), finished};
}

ResumePoint at_path(const fs::path& given) {
  const fs::path path = plain(given);
  if (step_of(path.filename().string())) return at_checkpoint(path);
  std::error_code error;
  if (fs::is_directory(path / "checkpoints", error)) return at_run(path);
  throw unusable(
      fmt::format("{} is neither a run directory (runs/NAME/NUMBER) nor a checkpoint "
                  "(runs/NAME/NUMBER/checkpoints/step-NNNNNN)",
                  path.string()));
}

/// Complete or not there at all, as a checkpoint is that was written.
Checkpoint copy_checkpoint(const Checkpoint& from, const fs::path& checkpoints) {
  const fs::path to = checkpoints / from.path().filename();
  HiddenFolder hidden(to);
  for (const CheckpointFile& file : from.files()) copy_whole(from.path() / file.name, hidden.path() / file.name);
  copy_whole(from.path() / "manifest.json", hidden.path() / "manifest.json");
  if (std::rename(hidden.path().c_str(), to.c_str()) != 0) throw storage_error("write", to, errno);
  hidden.release();
  sync_folder(checkpoints);
  return read_checkpoint(to);
}

std::optional<Checkpoint> best_before(const CheckpointIndex& index, const fs::path& checkpoints, int64_t step) {
  if (!index.best || *index.best >= step) return std::nullopt;
  try {
    return read_checkpoint(checkpoints / step_name(*index.best));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The checkpoint is copied behind the descriptions and the log, so that a kill in between leaves a run that can go on
/// or one without a checkpoint; the index comes last, as it can be made anew.
RunDirectory branch_off(ResumePoint& point) {
  const RunDirectory& old = point.directory;
  const int64_t step = point.checkpoint.step();
  RunDirectory fresh =
      RunDirectory::create(old.path().parent_path().parent_path(), old.path().parent_path().filename().string());
  for (const char* const name : {"config.resolved.json", "environment.json", "lock.json"}) {
    std::error_code error;
    if (fs::exists(old.path() / name, error)) copy_whole(old.path() / name, fresh.path() / name);
  }
  (void)copy_log(old.log(), fresh.log(), step);

  std::vector<std::string> unused;
  CheckpointIndex index = CheckpointIndex::load_or_rebuild(old.checkpoints(), unused);
  point.checkpoint = copy_checkpoint(point.checkpoint, fresh.checkpoints());
  const std::optional<Checkpoint> best = best_before(index, old.checkpoints(), step);
  if (best) (void)copy_checkpoint(*best, fresh.checkpoints());

  std::erase_if(index.history, [step](const CheckpointRecord& record) { return record.step > step; });
  for (CheckpointRecord& record : index.history) {
    record.kept = record.step == step || (best && record.step == best->step());
  }
  index.last = step;
  if (!best && index.best != step) index.best.reset();
  index.save(fresh.checkpoints());
  return fresh;
}

}  // namespace

ResumeRequest parse_resume(std::string_view text) {
  constexpr std::array kWords{std::pair{std::string_view("auto"), ResumeMode::kAuto},
                              std::pair{std::string_view("never"), ResumeMode::kNever},
                              std::pair{std::string_view("must"), ResumeMode::kMust}};
  for (const auto& [word, mode] : kWords) {
    if (text == word) return {mode, {}};
  }
  std::error_code error;
  if (text.find('\0') == std::string_view::npos && fs::is_directory(fs::path(text), error)) {
    return {ResumeMode::kPath, fs::path(text)};
  }
  const std::array<std::string, 3> names{"auto", "never", "must"};
  const std::string hint = did_you_mean(text, names);
  throw Error(
      ErrorCode::kConfig,
      fmt::format("--resume takes auto, never, must, or the path of a run directory or checkpoint; {} is none of "
                  "them{}{}",
                  core::quoted(text), hint.empty() ? "" : "; ", hint));
}

std::optional<ResumePoint> find_resume_point(const fs::path& runs, const std::string& name,
                                             const ResumeRequest& request, std::string* why_not) {
  std::string unused;
  std::string& reason = why_not == nullptr ? unused : *why_not;
  switch (request.mode) {
    case ResumeMode::kNever: return std::nullopt;
    case ResumeMode::kAuto: return in_newest_run(runs, name, false, reason);
    case ResumeMode::kMust: return in_newest_run(runs, name, true, reason);
    case ResumeMode::kPath: return at_path(request.path);
  }
  return std::nullopt;
}

RunDirectory rewind(ResumePoint& point) {
  if (point.branch) return branch_off(point);
  const int64_t step = point.checkpoint.step();
  for (const CheckpointPlace& place : list_checkpoints(point.directory.checkpoints())) {
    if (place.step > step) (void)set_aside(place.path);
  }
  (void)cut_log(point.directory.log(), step);
  set_crash_aside(point.directory.path());
  return std::move(point.directory);
}

}  // namespace tenon::core
