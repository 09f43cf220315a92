// The stages of core in a row.
#include <host/pipeline.hpp>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <core/graph/build.hpp>
#include <core/plugin/refusal.hpp>
#include <host/limits.hpp>

namespace tenon::host {

core::SearchPath search_path(const Arguments& arguments) {
  core::SearchOptions options;
  for (const std::string& folder : arguments.values("plugin-path")) options.plugin_paths.emplace_back(folder);
  for (const std::string& folder : arguments.values("trust-dir")) options.trusted.emplace_back(folder);
  return core::SearchPath::standard(options);
}

core::Catalogue scan_plugins(const Arguments& arguments, Console& console) {
  core::Catalogue catalogue = core::Catalogue::scan(search_path(arguments));
  for (const std::string& warning : catalogue.warnings()) {
    console.report(core::Severity::kWarning, "plugin-path", warning);
  }
  for (const std::string& named : arguments.values("plugin-path")) {
    std::error_code unknown;
    for (const core::RefusedPlugin& refused : catalogue.refused()) {
      if (std::filesystem::equivalent(named, refused.path, unknown)) {
        throw core::Refusal(refused.reason, named + " cannot be used: " + refused.message);
      }
    }
  }
  return catalogue;
}

Pipeline read_pipeline(const Arguments& arguments, const core::Catalogue& catalogue, core::GraphRules rules) {
  return read_pipeline(arguments.operands().front(), arguments, catalogue, {}, rules);
}

Pipeline read_pipeline(const std::filesystem::path& file, const Arguments& arguments, const core::Catalogue& catalogue,
                       const std::vector<std::string>& sets, core::GraphRules rules) {
  core::ResolveRequest request;
  request.pipeline = file;
  request.parameters = [&catalogue](std::string_view component) {
    const core::ComponentInfo* const info = catalogue.find(component);
    return info == nullptr ? nullptr : &info->parameters;
  };
  for (const std::string& overlay : arguments.values("overlay")) request.overlays.emplace_back(overlay);
  request.sets = sets;
  for (std::string& set : arguments.values("set")) request.sets.push_back(std::move(set));

  if (has_limits(arguments)) {
    core::Diagnostics told_below;
    for (std::string& set : limit_sets(arguments, core::resolve(request, told_below))) {
      request.sets.push_back(std::move(set));
    }
  }
  Pipeline pipeline;
  core::Resolved resolved = core::resolve(request, pipeline.findings);
  if (resolved.usable()) {
    core::GraphResult built = core::build_graph(resolved, catalogue, pipeline.findings, rules);
    pipeline.graph = std::move(built.graph);
    pipeline.resolved = std::move(built.resolved);
    pipeline.findings.append(built.diagnostics);
  }
  pipeline.findings.sort();
  return pipeline;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace tenon::host
