// The way across the border.
#include <host/tensors.hpp>

namespace tenon::host {

OpenedEngine open_engine(const core::RuntimeRequest& request) {
  core::Runtime runtime(request);
  engine::Engine* const engine = runtime.engine_function<engine::EngineFunction>(engine::kEngineSymbol)();
  if (engine == nullptr) throw Error(ErrorCode::kPlugin, "the engine could not be started");
  return {std::move(runtime), engine};
}

bool can_use_cuda() { return core::has_nvidia_driver() && core::find_libtorch().cuda; }

std::filesystem::path program_file() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace tenon::host
