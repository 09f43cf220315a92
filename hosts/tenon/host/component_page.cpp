// Layout of the pages of `plugins show`.
#include <host/component_page.hpp>

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/value_type.hpp>
#include <host/json_text.hpp>
#include <host/parameter_table.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

using core::Json;

std::string port_lines(std::string_view title, const std::vector<Port>& ports, const Console& console) {
  if (ports.empty()) return "";
  std::string out = fmt::format("\n{}\n", console.paint().bold(title));
  for (const Port& port : ports) out += fmt::format("  {}\n", describe_port(port));
  return out;
}

std::string indented(std::string_view lines) {
  std::string out = "  ";
  for (const char c : lines) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

std::string file_of(const core::PluginInfo& plugin) {
  return plugin.built_in() ? "part of the kernel" : plugin.path.string();
}

void add_list(Table& table, std::string term, const std::vector<std::string>& items) {
  if (!items.empty()) table.add({std::move(term), fmt::format("{}", fmt::join(items, ", "))});
}

Json port_json(const Port& port) {
  Json json{{"text", describe_port(port)}};
  if (!port.name.empty()) json["name"] = port.name;
  json["optional"] = port.optional;
  return json;
}

Json ports_json(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& port : ports) list.push_back(port_json(port));
  return list;
}

Json facts(const core::PluginInfo& plugin) {
  return {{"id", plugin.id},
          {"version", plugin.version},
          {"licence", plugin.licence},
          {"path", plugin.path.string()},
          {"fingerprint", plugin.fingerprint},
          {"build_id", plugin.build_id}};
}

}  // namespace

std::string describe_port(const Port& port) {
  if (port.open) return "further fields, known only once a run is planned";
  if (port.pass) {
    if (port.except.empty()) return "all fields of the input";
    std::vector<std::string> names;
    for (const std::string& name : port.except) names.push_back(compact(name));
    return fmt::format("all fields of the input but {}", fmt::join(names, ", "));
  }
  std::string text = port.name.starts_with('$')
                         ? fmt::format("the field that parameter {} names", compact(port.name.substr(1)))
                         : port.name;
  const std::string rule = core::describe_rule(port, Json::object());
  if (port.same_shape) {
    text += fmt::format(": {}, shaped as the input", rule.substr(0, rule.find('[')));
  } else {
    text += ": " + (rule == "any[*]" ? "any type and shape" : rule);
  }
  return port.optional ? text + " (may be left out)" : text;
}

std::vector<std::string> metric_values(const core::ComponentInfo& component) {
  std::vector<std::string> values;
  for (const MetricOutput& output : component.metrics) {
    values.push_back(
        fmt::format("{} ({} is better)", output.name, output.direction == Direction::kMax ? "more" : "less"));
  }
  return values;
}

std::string component_page(const core::ComponentInfo& component, const core::PluginInfo& plugin,
                           const Console& console) {
  const Paint paint = console.paint();
  std::string out = fmt::format("{}: {}\n\n", paint.bold(component.id()), component.summary);
  Table facts(2);
  facts.add({"plugin", fmt::format("{} {}, {}", plugin.id, plugin.version, plugin.licence)});
  facts.add({"file", file_of(plugin)});
  facts.add({"interface", fmt::format("{} revision {}", component.interface, component.revision)});
  add_list(facts, "traits", component.traits);
  add_list(facts, "abilities", component.abilities);
  add_list(facts, "values", metric_values(component));
  out += facts.render(console.width());
  out += port_lines("Takes", component.ports.in, console);
  out += port_lines("Gives", component.ports.out, console);
  const std::string parameters = parameter_table(component.parameters, console);
  out += fmt::format("\n{}\n{}", paint.bold("Parameters"), parameters.empty() ? "  none\n" : parameters);
  out += fmt::format("\n{}\n{}\n", paint.bold("In a pipeline"), indented(snippet(component)));
  return out;
}

Json component_json(const core::ComponentInfo& component, const core::PluginInfo& plugin) {
  Json metrics = Json::array();
  for (const MetricOutput& output : component.metrics) {
    metrics.push_back({{"name", output.name}, {"direction", output.direction == Direction::kMax ? "max" : "min"}});
  }
  return {{"kind", component.kind},
          {"name", component.name},
          {"summary", component.summary},
          {"interface", component.interface},
          {"revision", component.revision},
          {"traits", component.traits},
          {"abilities", component.abilities},
          {"metrics", std::move(metrics)},
          {"ports", {{"in", ports_json(component.ports.in)}, {"out", ports_json(component.ports.out)}}},
          {"parameters", component.parameters},
          {"snippet", snippet(component)},
          {"plugin", facts(plugin)}};
}

std::string plugin_page(const core::PluginInfo& plugin, const Console& console) {
  const Paint paint = console.paint();
  std::string out = fmt::format("{} {}\n\n", paint.bold(plugin.id), plugin.version);
  Table table(2);
  table.add({"licence", plugin.licence});
  table.add({"file", file_of(plugin)});
  if (!plugin.fingerprint.empty()) table.add({"built for", plugin.fingerprint});
  if (!plugin.build_id.empty()) table.add({"build id", plugin.build_id});
  add_list(table, "needs", plugin.needed);
  add_list(table, "namespaces", plugin.namespaces);
  out += table.render(console.width());
  Table components(2);
  for (const core::ComponentInfo& component : plugin.components) components.add({component.id(), component.summary});
  return out + fmt::format("\n{}\n{}", paint.bold("Components"), components.render(console.width()));
}

Json plugin_json(const core::PluginInfo& plugin) {
  Json json = facts(plugin);
  json["needed"] = plugin.needed;
  json["namespaces"] = plugin.namespaces;
  json["components"] = Json::array();
  for (const core::ComponentInfo& component : plugin.components) {
    json["components"].push_back({{"kind", component.kind}, {"name", component.name}, {"summary", component.summary}});
  }
  return json;
}

}  // namespace tenon::host
