// GitHub's dialect of Markdown: tables with "|", whose cells must escape that character even within code.
#include <host/markdown_page.hpp>

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <host/component_page.hpp>
#include <host/parameter_table.hpp>

namespace tenon::host {
namespace {

/// Plain text that no reader takes for markup.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_<[|").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// Code within a cell of a table; nothing stays nothing.
std::string code_cell(std::string_view text) {
  if (text.empty()) return {};
  const bool ticks = text.find('`') != std::string_view::npos;
  std::string out = ticks ? "`` " : "`";
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out + (ticks ? " ``" : "`");
}

std::string port_list(std::string_view title, const std::vector<Port>& ports) {
  if (ports.empty()) return {};
  std::string out = fmt::format("\n**{}**\n\n", title);
  for (const Port& port : ports) out += fmt::format("- {}\n", escaped(describe_port(port)));
  return out;
}

std::string parameters(const core::ComponentInfo& component) {
  const std::vector<ParameterRow> rows = parameter_rows(component.parameters);
  if (rows.empty()) return "\nIt has no parameters.\n";
  std::string out = "\n| parameter | type | default | meaning |\n|---|---|---|---|\n";
  for (const ParameterRow& row : rows) {
    const std::string fallback = row.fallback == "required" ? row.fallback : code_cell(row.fallback);
    out += fmt::format("| {} | {} | {} | {} |\n", code_cell(row.name), code_cell(row.type), fallback,
                       escaped(row.meaning));
  }
  return out;
}

void add_fact(std::string& out, std::string_view term, const std::vector<std::string>& items) {
  if (items.empty()) return;
  out += fmt::format("- {}: {}\n", term, escaped(fmt::format("{}", fmt::join(items, ", "))));
}

/// A row that leads to the component's heading on a page; GitHub's anchors leave the colon out.
std::string component_row(const core::ComponentInfo& component, std::string_view page) {
  std::string anchor = component.id();
  std::erase(anchor, ':');
  return fmt::format("| [{}]({}#{}) | {} |\n", escaped(component.id()), page, anchor, escaped(component.summary));
}

}  // namespace

std::string component_markdown(const core::ComponentInfo& component) {
  std::string out = fmt::format("## {}\n\n{}.\n\n", component.id(), escaped(component.summary));
  out += fmt::format("- interface: {} revision {}\n", component.interface, component.revision);
  add_fact(out, "traits", component.traits);
  add_fact(out, "abilities", component.abilities);
  add_fact(out, "values", metric_values(component));
  out += port_list("Takes", component.ports.in);
  out += port_list("Gives", component.ports.out);
  out += parameters(component);
  return out + fmt::format("\nIn a pipeline:\n\n```json\n{}\n```\n", snippet(component));
}

std::string plugin_markdown(const core::PluginInfo& plugin) {
  std::string out = fmt::format("# {} {}\n\nLicence: {}.", plugin.id, plugin.version, escaped(plugin.licence));
  if (!plugin.namespaces.empty()) {
    out += fmt::format(" Registers the torch operator namespaces {}.", fmt::join(plugin.namespaces, ", "));
  }
  out += "\n\n| component | what it is |\n|---|---|\n";
  for (const core::ComponentInfo& component : plugin.components) out += component_row(component, "");
  for (const core::ComponentInfo& component : plugin.components) out += '\n' + component_markdown(component);
  return out;
}

std::map<std::string, std::string> reference_pages(const core::Catalogue& catalogue) {
  std::map<std::string, std::string> pages;
  for (const core::PluginInfo& plugin : catalogue.plugins()) pages.emplace(plugin.id + ".md", plugin_markdown(plugin));
  std::string index = "# Components\n\nMade of the plugins' manifests.\n\n| component | what it is |\n|---|---|\n";
  for (const std::string& id : catalogue.ids()) {
    const core::ComponentInfo& component = catalogue.at(id);
    index += component_row(component, component.plugin + ".md");
  }
  pages.emplace("README.md", std::move(index));
  return pages;
}

}  // namespace tenon::host
