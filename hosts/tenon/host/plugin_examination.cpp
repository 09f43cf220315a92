// Preflight and first opening of what a pipeline uses.
#include <host/plugin_examination.hpp>

namespace tenon::host {

core::Diagnostics examine_plugins(const Pipeline& pipeline, const core::Catalogue& catalogue, Opening opening) {
  if (!pipeline.graph) return {};
  return core::examine_plugins(*pipeline.graph, pipeline.resolved, catalogue, opening);
}

int require_usable_plugins(const Pipeline& pipeline, const core::Catalogue& catalogue, Console& console,
                           std::string_view outcome) {
  const core::Diagnostics findings = examine_plugins(pipeline, catalogue, Opening::kSoon);
  console.report(findings, outcome);
  return findings.exit_code();
}

}  // namespace tenon::host
