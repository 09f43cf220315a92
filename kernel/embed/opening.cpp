// Looking at the environment instead of setting it.
#include <embed/opening.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/build.hpp>
#include <core/graph/examine_plugins.hpp>
#include <core/graph/runtime_request.hpp>
#include <embed/errors.hpp>

namespace tenon::kernel {
namespace {

std::optional<std::string> value_now(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// On the CPU the number of threads is set by a call, and the other variables mean nothing. On a GPU a variable that
/// would overrule the pipeline has to go; one that would only confirm it need not be there.
void require_environment(const core::RuntimeRequest& request, const core::Resolved& resolved) {
  if (!request.cuda || request.set_environment) return;
  std::vector<std::string> wishes;
  for (const core::EnvironmentSetting& setting : core::environment_for(request, value_now)) {
    const bool is_set = value_now(setting.name.c_str()).has_value();
    const bool is_workspace = setting.name == "CUBLAS_WORKSPACE_CONFIG";
    if (is_workspace || (is_set && setting.name.find("TF32") != std::string::npos)) {
      wishes.push_back(setting.value ? fmt::format("{}={} ({})", setting.name, *setting.value, setting.reason)
                                     : fmt::format("no {} ({})", setting.name, setting.reason));
    }
  }
  if (wishes.empty()) return;
  throw engine::PlacedError(core::diagnose(
      resolved, "/run/device",
      tenon::Error(ErrorCode::kConfig,
                   fmt::format("on a GPU libtorch must find in the environment: {}; start the program so, allow it by "
                               "RuntimeOptions::set_environment, or set run.device to \"cpu\"",
                               fmt::join(wishes, ", ")))));
}

}  // namespace

OpenedEngine open_engine(const core::Graph& graph, const core::Resolved& resolved, const core::Catalogue& catalogue,
                         const RuntimeOptions& options) {
  const core::Opening opening = options.try_plugins_in_child ? core::Opening::kSoon : core::Opening::kNone;
  require_no_error(core::examine_plugins(graph, resolved, catalogue, opening), "nothing was started");
  core::RuntimeRequest request = core::runtime_request(graph.run);
  request.set_environment = options.set_environment;
  require_environment(request, resolved);
  core::Runtime runtime(request);
  engine::Engine* const engine = runtime.engine_function<engine::EngineFunction>(engine::kEngineSymbol)();
  if (engine == nullptr) throw tenon::Error(ErrorCode::kPlugin, "the engine could not be started");
  return {std::move(runtime), engine};
}

}  // namespace tenon::kernel
