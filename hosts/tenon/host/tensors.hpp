// Opens libtorch and the engine; only commands that need tensors come here.
#pragma once

#include <filesystem>
#include <memory>

#include <core/graph/graph.hpp>
#include <core/plugin/runtime.hpp>
#include <core/process/crash_handlers.hpp>
#include <engine/engine.hpp>

namespace tenon::host {

/// The engine and what it was opened with. These two stay for the life of the process.
struct OpenedEngine {
  core::Runtime runtime;
  engine::Engine* engine = nullptr;
  std::unique_ptr<core::CrashHandlers> crash_handlers;  ///< Crashes are explained while this lives.
};

/// Once a process, before the first thread. \throws core::Refusal that names the library and the fix.
[[nodiscard]] OpenedEngine open_engine(const core::RuntimeRequest& request);

/// The engine for a pipeline's settings. Where a GPU cannot be used that the run did not insist on, the refusal tells the
/// way out. \throws core::Refusal
[[nodiscard]] OpenedEngine open_engine_for(const core::RunSettings& run);

/// The running program's own file.
[[nodiscard]] std::filesystem::path program_file();

}  // namespace tenon::host
