// One error for all drift.
#include <host/locking.hpp>

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/used_plugins.hpp>
#include <core/plugin/lock.hpp>
#include <core/plugin/refusal.hpp>
#include <core/plugin/runtime.hpp>

namespace tenon::host {

void require_locked(const Arguments& arguments, const core::Graph& graph, const core::Catalogue& catalogue) {
  const std::optional<std::string> file = arguments.value("locked");
  if (!file) return;
  const core::Json lock = core::read_lock(*file);
  const std::vector<core::UsedPlugin> used = core::used_plugins(graph, catalogue);
  std::vector<const core::PluginInfo*> plugins;
  plugins.reserve(used.size());
  for (const core::UsedPlugin& each : used) plugins.push_back(each.plugin);
  const std::vector<std::string> drift = core::lock_drift(lock, plugins, core::find_libtorch().version);
  if (drift.empty()) return;
  throw core::Refusal("lock-drift",
                      fmt::format("--locked {}: {}; install what is locked, or run without --locked and keep the new "
                                  "run's lock.json",
                                  *file, fmt::join(drift, "; ")));
}

}  // namespace tenon::host
