// Opens libtorch and the engine; only commands that need tensors come here.
#pragma once

#include <filesystem>

#include <core/plugin/runtime.hpp>
#include <engine/engine.hpp>

namespace tenon::host {

/// The engine and what it was opened with. Both stay for the life of the process.
struct OpenedEngine {
  core::Runtime runtime;
  engine::Engine* engine = nullptr;
};

/// Once a process, before the first thread. \throws core::Refusal that names the library and the fix.
[[nodiscard]] OpenedEngine open_engine(const core::RuntimeRequest& request);

/// A GPU may be used: its driver is there and so is libtorch's half for it. \throws core::Refusal without a libtorch.
[[nodiscard]] bool can_use_cuda();

/// The running program's own file.
[[nodiscard]] std::filesystem::path program_file();

}  // namespace tenon::host
