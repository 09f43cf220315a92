// The way across the border.
#include <host/tensors.hpp>

#include <fmt/format.h>

#include <core/graph/runtime_request.hpp>
#include <core/plugin/refusal.hpp>

namespace tenon::host {

OpenedEngine open_engine_for(const core::RunSettings& run) {
  const core::RuntimeRequest request = core::runtime_request(run);
  try {
    return open_engine(request);
  } catch (const core::Refusal& refusal) {
    if (!request.cuda || run.device != "auto") throw;
    throw core::Refusal(refusal.reason(),
                        fmt::format("{}; to train on the CPU instead: --set run.device='\"cpu\"'", refusal.what()));
  }
}

OpenedEngine open_engine(const core::RuntimeRequest& request) {
  auto crash_handlers = std::make_unique<core::CrashHandlers>();
  core::Runtime runtime(request);
  engine::Engine* const engine = runtime.engine_function<engine::EngineFunction>(engine::kEngineSymbol)();
  if (engine == nullptr) throw Error(ErrorCode::kPlugin, "the engine could not be started");
  return {std::move(runtime), engine, std::move(crash_handlers)};
}

std::filesystem::path program_file() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace tenon::host
