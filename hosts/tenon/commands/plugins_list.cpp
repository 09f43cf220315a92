// tenon plugins list: the components that are installed.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/plugin/interfaces.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

using core::Json;

std::vector<std::string> kinds(const core::Catalogue& catalogue) {
  std::vector<std::string> names;
  for (const core::InterfaceInfo& each : core::interfaces()) names.emplace_back(each.kind);
  // Kinds that only the kernel brings, such as the loader, have no interface for plugins.
  for (const std::string& id : catalogue.ids()) {
    std::string kind = id.substr(0, id.find(':'));
    if (std::find(names.begin(), names.end(), kind) == names.end()) names.push_back(std::move(kind));
  }
  return names;
}

std::vector<std::string> wanted_kinds(const Arguments& arguments, const core::Catalogue& catalogue) {
  std::vector<std::string> all = kinds(catalogue);
  const std::optional<std::string> kind = arguments.value("kind");
  if (!kind) return all;
  if (std::find(all.begin(), all.end(), *kind) != all.end()) return {*kind};
  const std::string hint = core::did_you_mean(*kind, all);
  throw UsageError({fmt::format("there is no kind {}{}{}; kinds: {}", core::quoted(*kind), hint.empty() ? "" : "; ",
                                hint, fmt::join(all, ", "))},
                   &arguments.command());
}

std::string as_json(const core::Catalogue& catalogue, const std::vector<std::string>& kinds) {
  Json components = Json::array();
  for (const std::string& kind : kinds) {
    for (const core::ComponentInfo* const component : catalogue.of_kind(kind)) {
      components.push_back({{"kind", component->kind},
                            {"name", component->name},
                            {"plugin", component->plugin},
                            {"version", catalogue.plugin_of(*component).version},
                            {"summary", component->summary}});
    }
  }
  Json refused = Json::array();
  for (const core::RefusedPlugin& each : catalogue.refused()) {
    refused.push_back({{"path", each.path.string()},
                       {"reason", each.reason},
                       {"message", each.message},
                       {"plugin", each.id},
                       {"components", each.components}});
  }
  return pretty({{"components", std::move(components)}, {"refused", std::move(refused)}});
}

std::string as_text(const core::Catalogue& catalogue, const std::vector<std::string>& kinds, const Console& console) {
  const Paint paint = console.paint();
  Table table;
  table.style(0, [&](std::string_view text) { return paint.blue(text); });
  table.style(1, [&](std::string_view text) { return paint.bold(text); });
  for (const std::string& kind : kinds) {
    for (const core::ComponentInfo* const component : catalogue.of_kind(kind)) {
      table.add(
          {kind, component->name, component->plugin, catalogue.plugin_of(*component).version, component->summary});
    }
  }
  std::string out = table.empty() ? "no components\n" : table.render(console.width());
  if (catalogue.refused().empty()) return out;

  out += fmt::format("\n{}\n", paint.yellow(fmt::format("{} refused", counted(catalogue.refused().size(), "file"))));
  for (const core::RefusedPlugin& each : catalogue.refused()) {
    out += fmt::format("  {}: {}\n", each.path.string(), paint.bold(each.reason));
    for (const std::string& line : wrap(each.message, console.width() > 0 ? console.width() - 4 : 0)) {
      out += fmt::format("    {}\n", line);
    }
    if (!each.components.empty()) out += fmt::format("    it would bring {}\n", fmt::join(each.components, ", "));
  }
  return out;
}

int list(const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const std::vector<std::string> kinds = wanted_kinds(arguments, catalogue);
  console.print(arguments.json() ? as_json(catalogue, kinds) : as_text(catalogue, kinds, console));
  return 0;
}

constexpr Option kOptions[]{
    {"kind", "KIND", "only components of this kind, such as loss"},
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{{0, "done, whether files were refused or not"}, {2, "the command line is wrong"}};
constexpr Command kPluginsList{
    .name = "plugins list",
    .group = Group::kComponents,
    .summary = "list the components that are installed",
    .purpose =
        "One component a line: kind, name, plugin, its version, and what it is. In a pipeline a "
        "component is used as \"kind:name\". Behind them come the files that were found and refused, "
        "each with the reason and the cure. Only manifests are read; no plugin is opened.\n"
        "Plugins are looked for in --plugin-path, TENON_PLUGIN_PATH, ~/.local/share/tenon/plugins and "
        "the folder of this installation.",
    .operands = {},
    .options = kOptions,
    .examples =
        "tenon plugins list\n"
        "tenon plugins list --kind transform\n"
        "tenon plugins list --plugin-path build/plugins --format json",
    .exit_codes = kExitCodes,
    .run = &list,
};
TENON_COMMAND(kPluginsList);

}  // namespace
}  // namespace tenon::host
