// Where a trial runs, and on what.
#include <engine/preflight.hpp>

#include <cerrno>
#include <string>
#include <system_error>

#include <cstdlib>

#include <core/storage/file.hpp>

namespace tenon::engine {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const RunRequest& request) : parent_(request.graph.run.dir) {
  try {
    if (parent_.native().find('\0') != std::string::npos) {
      throw Error(ErrorCode::kConfig, "the folder of the runs has a name with a NUL character, which no file can have");
    }
    std::error_code error;
    made_parent_ = fs::create_directories(parent_, error);
    if (error) throw core::storage_error("create", parent_, error.value());
    std::string name = (parent_ / ".preflight-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw core::storage_error("create", name, errno);
    path_ = name;
  } catch (const Error& error) {
    throw PlacedError(core::diagnose(request.resolved, "/run/dir", error));
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (made_parent_) fs::remove(parent_, ignored);  // unless something lies in it by now
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
