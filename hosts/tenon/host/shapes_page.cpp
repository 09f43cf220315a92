// Shapes by path and node.
#include <host/shapes_page.hpp>

#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <host/table.hpp>

namespace tenon::host {
namespace {

/// "640", "12.3 K", "1.4 M": parameters of a model.
std::string short_count(int64_t count) {
  if (count < 10'000) return fmt::format("{}", count);
  return count < 10'000'000 ? fmt::format("{:.1f} K", static_cast<double>(count) / 1e3)
                            : fmt::format("{:.1f} M", static_cast<double>(count) / 1e6);
}

}  // namespace

std::string shapes_page(const engine::PlanReport& report, const Console& console) {
  std::string text;
  Table table(2);
  std::string path;
  const auto flush = [&] {
    text += table.render(console.width());
    table = Table(2);
  };
  for (std::size_t i = 0; i < report.values.size();) {
    const engine::PlanReport::Value& first = report.values[i];
    if (first.path != path) {
      flush();
      path = first.path;
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", console.paint().bold(path));
    }
    std::vector<std::string> fields;
    for (; i < report.values.size() && report.values[i].path == first.path && report.values[i].node == first.node;
         ++i) {
      fields.push_back(fmt::format("{} {}", report.values[i].field.name, to_string(report.values[i].field)));
    }
    table.add({first.node, fmt::format("{}", fmt::join(fields, ", "))});
  }
  flush();
  for (const auto& [model, count] : report.parameters) {
    text += fmt::format("\n{}: {} parameters", model, short_count(count));
  }
  for (const auto& [model, reason] : report.untried)
    text += fmt::format("\n{}: shapes not known yet: {}", model, reason);
  return text + (text.empty() ? "" : "\n");
}

core::Json shapes_json(const engine::PlanReport& report) {
  core::Json json{
      {"values", core::Json::array()}, {"parameters", core::Json::object()}, {"untried", core::Json::object()}};
  for (const engine::PlanReport::Value& value : report.values) {
    core::Json shape = core::Json::array();
    for (const Dim& dim : value.field.shape) {
      if (dim.fixed()) {
        shape.push_back(dim.size);
      } else {
        shape.push_back(dim.symbol.empty() ? "?" : dim.symbol);
      }
    }
    json["values"].push_back({{"path", value.path},
                              {"node", value.node},
                              {"name", value.field.name},
                              {"dtype", name_of(value.field.dtype)},
                              {"shape", shape}});
  }
  for (const auto& [model, count] : report.parameters) json["parameters"][model] = count;
  for (const auto& [model, reason] : report.untried) json["untried"][model] = reason;
  return json;
}

}  // namespace tenon::host
