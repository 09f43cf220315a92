// Preflight and first opening of what a pipeline uses.
#include <core/graph/examine_plugins.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/graph/used_plugins.hpp>
#include <core/plugin/preflight.hpp>
#include <core/plugin/probe.hpp>

namespace tenon::core {
namespace {

Diagnostic placed(const Resolved& resolved, const UsedPlugin& used, PluginFinding finding) {
  const bool is_error = finding.severity == Severity::kError;
  Diagnostic diagnostic =
      resolved.error_at_value(used.pointer + "/use", std::move(finding.code),
                              fmt::format("plugin {} ({}){}: {}", used.plugin->id, used.plugin->path.string(),
                                          is_error ? " cannot be opened" : "", finding.message));
  diagnostic.severity = finding.severity;
  if (is_error) diagnostic.error_code = ErrorCode::kPlugin;
  return diagnostic;
}

}  // namespace

Diagnostics examine_plugins(const Graph& graph, const Resolved& resolved, const Catalogue& catalogue, Opening opening) {
  Diagnostics findings;
  std::vector<UsedPlugin> plugins = used_plugins(graph, catalogue);
  std::erase_if(plugins, [](const UsedPlugin& used) { return used.plugin->linked != nullptr; });
  const std::optional<Libtorch> libtorch = usable_libtorch();
  Preflight preflight(libtorch, graph.run.device != "cpu" && has_nvidia_driver());
  std::vector<const PluginInfo*> fit;
  for (const UsedPlugin& used : plugins) {
    bool is_fit = true;
    for (PluginFinding& finding : preflight.examine(*used.plugin)) {
      is_fit = is_fit && finding.severity != Severity::kError;
      findings.add(placed(resolved, used, std::move(finding)));
    }
    if (is_fit) fit.push_back(used.plugin);
  }
  if (opening == Opening::kSoon && libtorch && fit.size() == plugins.size() && preflight.host().empty()) {
    for (const ProbedPlugin& probed : probe_plugins(fit, libtorch)) {
      if (probed.verdict.good) continue;
      for (const UsedPlugin& used : plugins) {
        if (used.plugin != probed.plugin) continue;
        findings.add(placed(resolved, used, {Severity::kError, probed.verdict.code, told(probed)}));
      }
    }
  }
  findings.sort();
  return findings;
}

}  // namespace tenon::core
