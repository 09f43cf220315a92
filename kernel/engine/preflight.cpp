// Where a trial runs, and on what.
#include <engine/preflight.hpp>

#include <fcntl.h>
#include <sys/file.h>

#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <core/storage/run_directory.hpp>

namespace tenon::engine {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = ".preflight-";

/// The folder, locked until the descriptor goes; nothing where the lock is not to be had, as on file systems without.
core::FileDescriptor locked(const fs::path& folder, int operation) {
  core::FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened && ::flock(opened.get(), operation) != 0) opened.close();
  return opened;
}

void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  std::vector<fs::path> folders;
  fs::directory_iterator entries(parent, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().filename().native().starts_with(kPrefix)) folders.push_back(entries->path());
  }
  for (const fs::path& folder : folders) {
    if (const core::FileDescriptor lock = locked(folder, LOCK_EX | LOCK_NB)) fs::remove_all(folder, error);
  }
}

}  // namespace

TrialFolder::TrialFolder(const RunRequest& request) : parent_{request.graph.run.dir} {
  try {
    core::require_possible_name(parent_.path);
    std::error_code error;
    parent_.made = fs::create_directories(parent_.path, error);
    if (error) throw core::storage_error("create", parent_.path, error.value());
    remove_abandoned(parent_.path);
    do {
      scratch_.emplace(parent_.path, kPrefix);
      lock_ = locked(scratch_->path(), LOCK_EX);
    } while (!fs::exists(scratch_->path(), error));  // another trial saw it before it was locked
  } catch (const Error& error) {
    throw PlacedError(core::diagnose(request.resolved, "/run/dir", error));
  }
}

TrialFolder::Parent::~Parent() {
  std::error_code ignored;
  if (made) fs::remove(path, ignored);
}

RunRequest trial_of(const RunRequest& request, const fs::path& folder) {
  RunRequest trial = request;
  trial.interrupt_at.reset();
  trial.graph.run.dir = folder;
  trial.graph.observe.clear();
  for (core::Validation& validation : trial.graph.validations) validation.path.limit = 1;
  if (trial.graph.test) trial.graph.test->path.limit = 1;
  return trial;
}

PlacedError found_in_preflight(const PlacedError& error) {
  core::Diagnostic diagnostic = error.diagnostic();
  diagnostic.notes.emplace_back("every stage is tried once before training (--no-preflight leaves that out)");
  return PlacedError(std::move(diagnostic));
}

}  // namespace tenon::engine
