// Preflight and first opening of what a pipeline uses.
#include <host/plugin_examination.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/graph/used_plugins.hpp>
#include <core/plugin/preflight.hpp>
#include <core/plugin/probe.hpp>

namespace tenon::host {
namespace {

core::Diagnostic placed(const core::Resolved& resolved, const core::UsedPlugin& used, core::PluginFinding finding) {
  const bool is_error = finding.severity == core::Severity::kError;
  core::Diagnostic diagnostic =
      resolved.error_at_value(used.pointer + "/use", std::move(finding.code),
                              fmt::format("plugin {} ({}){}: {}", used.plugin->id, used.plugin->path.string(),
                                          is_error ? " cannot be opened" : "", finding.message));
  diagnostic.severity = finding.severity;
  if (is_error) diagnostic.error_code = ErrorCode::kPlugin;
  return diagnostic;
}

}  // namespace

core::Diagnostics examine_plugins(const Pipeline& pipeline, const core::Catalogue& catalogue, Opening opening) {
  core::Diagnostics findings;
  if (!pipeline.graph) return findings;
  const std::vector<core::UsedPlugin> plugins = core::used_plugins(*pipeline.graph, catalogue);
  const std::optional<core::Libtorch> libtorch = core::usable_libtorch();
  const std::string& device = pipeline.graph->run.device;
  core::Preflight preflight(libtorch, device != "cpu" && core::has_nvidia_driver());
  std::vector<const core::PluginInfo*> fit;
  for (const core::UsedPlugin& used : plugins) {
    bool is_fit = true;
    for (core::PluginFinding& finding : preflight.examine(*used.plugin)) {
      is_fit = is_fit && finding.severity != core::Severity::kError;
      findings.add(placed(pipeline.resolved, used, std::move(finding)));
    }
    if (is_fit) fit.push_back(used.plugin);
  }
  if (opening == Opening::kSoon && libtorch && fit.size() == plugins.size() && preflight.host().empty()) {
    for (const core::ProbedPlugin& probed : core::probe_plugins(fit, libtorch)) {
      if (probed.verdict.good) continue;
      for (const core::UsedPlugin& used : plugins) {
        if (used.plugin != probed.plugin) continue;
        findings.add(
            placed(pipeline.resolved, used, {core::Severity::kError, probed.verdict.code, core::told(probed)}));
      }
    }
  }
  findings.sort();
  return findings;
}

int require_usable_plugins(const Pipeline& pipeline, const core::Catalogue& catalogue, Console& console,
                           std::string_view outcome) {
  const core::Diagnostics findings = examine_plugins(pipeline, catalogue, Opening::kSoon);
  console.report(findings, outcome);
  return findings.exit_code();
}

}  // namespace tenon::host
