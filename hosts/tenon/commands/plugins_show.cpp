// tenon plugins show: all about one component or one plugin.
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/component_page.hpp>
#include <host/console.hpp>
#include <host/find_component.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {
namespace {

int show(const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const auto [plugin, component] = find_installed(catalogue, arguments.operands().front());
  if (component == nullptr) {
    console.print(arguments.json() ? pretty(plugin_json(plugin)) : plugin_page(plugin, console));
  } else {
    console.print(arguments.json() ? pretty(component_json(*component, plugin))
                                   : component_page(*component, plugin, console));
  }
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
