// tenon plugins show: all about one component or one plugin.
#include <optional>
#include <span>
#include <string>

#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/component_page.hpp>
#include <host/console.hpp>
#include <host/find_component.hpp>
#include <host/json_text.hpp>
#include <host/markdown_page.hpp>
#include <host/pipeline.hpp>
#include <host/text_pages.hpp>

namespace tenon::host {
namespace {

int show(const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const std::span<const std::string> names = arguments.operands();
  if (const std::optional<std::string> folder = arguments.value("out")) {
    if (!names.empty() || folder->empty() || arguments.json()) {
      throw UsageError({"--out DIR writes the pages of all plugins: it goes without a NAME"}, &arguments.command());
    }
    write_pages(*folder, reference_pages(catalogue));
    return 0;
  }
  if (names.empty()) throw UsageError({"NAME is missing: a component or a plugin's id"}, &arguments.command());
  const auto [plugin, component] = find_installed(catalogue, names.front());
  if (arguments.value("format") == "md") {
    console.print(component == nullptr ? plugin_markdown(plugin) : component_markdown(*component));
  } else if (component == nullptr) {
    console.print(arguments.json() ? pretty(plugin_json(plugin)) : plugin_page(plugin, console));
  } else {
    console.print(arguments.json() ? pretty(component_json(*component, plugin))
                                   : component_page(*component, plugin, console));
  }
  return 0;
}

constexpr Operand kOperands[]{
    {"NAME", "a component (loss:cross_entropy, or cross_entropy alone) or a plugin's id", Arity::kOptional}};
constexpr Option kOptions[]{
    {"format", "text|json|md", "for people (default), for programs, or a page in Markdown"},
    {"out", "DIR", "without NAME: the Markdown pages of all plugins, into this folder"},
};
constexpr ExitCode kExitCodes[]{
    {0, "done"},
    {2, "nothing of that name is installed, or several components are"},
    {3, "the plugin that brings it is refused"},
    {10, "DIR cannot be written"},
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
        "the schema of the parameters, too; --format md a page of reference, of a plugin with all its components.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon plugins show loss:cross_entropy\n"
        "tenon plugins show adamw\n"
        "tenon plugins show org.tenon.losses --format json\n"
        "tenon plugins show org.tenon.losses --format md > losses.md\n"
        "tenon plugins show --out reference",
    .exit_codes = kExitCodes,
    .run = &show,
};
TENON_COMMAND(kPluginsShow);

}  // namespace
}  // namespace tenon::host
