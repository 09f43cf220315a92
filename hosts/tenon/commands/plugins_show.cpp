// tenon plugins show: all about one component or one plugin.
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/component_page.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {
namespace {

/// "kind:name" of the components that `name` can mean.
std::vector<std::string> matches(const core::Catalogue& catalogue, const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& id : catalogue.ids()) {
    if (id == name || id.substr(id.find(':') + 1) == name) found.push_back(id);
  }
  return found;
}

/// A name that is not installed: refused, misspelt or unheard of.
Error not_found(const core::Catalogue& catalogue, const std::string& name) {
  for (const core::RefusedPlugin& refused : catalogue.refused()) {
    bool meant = refused.id == name;
    for (const std::string& id : refused.components) meant = meant || id == name || id.substr(id.find(':') + 1) == name;
    if (meant) {
      return {ErrorCode::kPlugin, fmt::format("{} comes from {}, which is refused: {}", core::quoted(name),
                                              refused.path.string(), refused.message)};
    }
  }
  std::vector<std::string> candidates = catalogue.ids();
  for (const std::string& id : catalogue.ids()) candidates.push_back(id.substr(id.find(':') + 1));
  for (const core::PluginInfo& plugin : catalogue.plugins()) candidates.push_back(plugin.id);
  const std::string hint = core::did_you_mean(name, candidates);
  return {ErrorCode::kConfig, fmt::format("there is no component or plugin {}; {}", core::quoted(name),
                                          hint.empty() ? "tenon plugins list tells what there is" : hint)};
}

int show(const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const std::string& name = arguments.operands().front();
  if (const core::PluginInfo* const plugin = catalogue.plugin(name)) {
    console.print(arguments.json() ? pretty(plugin_json(*plugin)) : plugin_page(*plugin, console));
    return 0;
  }
  const std::vector<std::string> found = matches(catalogue, name);
  if (found.empty()) throw not_found(catalogue, name);
  if (found.size() > 1) {
    throw UsageError({fmt::format("{} can mean {}; give one of them", core::quoted(name), fmt::join(found, ", "))},
                     &arguments.command());
  }
  const core::ComponentInfo& component = catalogue.at(found.front());
  const core::PluginInfo& plugin = catalogue.plugin_of(component);
  console.print(arguments.json() ? pretty(component_json(component, plugin))
                                 : component_page(component, plugin, console));
  return 0;
}

constexpr Operand kOperands[]{{"NAME", "a component (loss:cross_entropy, or cross_entropy alone) or a plugin's id"}};
constexpr Option kOptions[]{kFormatOption};
constexpr ExitCode kExitCodes[]{
    {0, "done"},
    {2, "nothing of that name is installed, or several components are"},
    {3, "the plugin that brings it is refused"},
};
constexpr Command kPluginsShow{
    .name = "plugins show",
    .group = Group::kComponents,
    .summary = "tell all about a component or a plugin",
    .purpose =
        "For a component: what it is, which plugin brings it, what it takes and gives, its parameters "
        "with type, range, default and meaning, and a piece of JSON to paste into a pipeline, where "
        "references to other nodes remain to be put right. For a plugin: version, file, what it was "
        "built for, its components. Only manifests are read; no plugin is opened. --format json gives "
        "the schema of the parameters, too.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon plugins show loss:cross_entropy\n"
        "tenon plugins show adamw\n"
        "tenon plugins show org.tenon.losses --format json",
    .exit_codes = kExitCodes,
    .run = &show,
};
TENON_COMMAND(kPluginsShow);

}  // namespace
}  // namespace tenon::host
