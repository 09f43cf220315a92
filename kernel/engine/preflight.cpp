// Where a trial runs, and on what.
#include <engine/preflight.hpp>

#include <system_error>
#include <utility>

#include <core/storage/file.hpp>
#include <core/storage/run_directory.hpp>

namespace tenon::engine {

namespace fs = std::filesystem;

TrialFolder::TrialFolder(const RunRequest& request) : parent_{request.graph.run.dir} {
  try {
    core::require_possible_name(parent_.path);
    std::error_code error;
    parent_.made = fs::create_directories(parent_.path, error);
    if (error) throw core::storage_error("create", parent_.path, error.value());
    scratch_.emplace(parent_.path, ".preflight-");
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
