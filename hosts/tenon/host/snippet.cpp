// How a component is written into a pipeline.
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/describe.hpp>
#include <core/units.hpp>
#include <host/component_page.hpp>
#include <host/json_text.hpp>

namespace tenon::host {
namespace {

using core::find_member;
using core::Json;

std::string string_member(const Json& object, const char* key) {
  const Json* const value = find_member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

Json required_members(const Json& schema, const Json& root);

/// The smallest whole number that the bounds allow, 1 where they allow that.
int64_t number_within(const Json& schema) {
  double least = 1;
  if (const Json* const bound = find_member(schema, "minimum")) least = std::max(least, bound->get<double>());
  if (const Json* const bound = find_member(schema, "exclusiveMinimum"))
    least = std::max(least, bound->get<double>() + 1);
  if (const Json* const bound = find_member(schema, "maximum")) least = std::min(least, bound->get<double>());
  return static_cast<int64_t>(least);
}

/// A value that the schema takes.
Json example(const Json& unresolved, const Json& root) {
  const Json& schema = core::follow_reference(unresolved, root);
  if (const Json* const value = find_member(schema, "default")) return *value;
  if (const Json* const value = find_member(schema, "const")) return *value;
  if (const Json* const values = find_member(schema, "enum")) return values->front();
  for (const char* const word : {"anyOf", "oneOf"}) {
    if (const Json* const alternatives = find_member(schema, word)) return example(alternatives->front(), root);
  }
  const std::string type = string_member(schema, "type");
  if (type == "boolean") return true;
  if (type == "integer" || type == "number") return number_within(schema);
  if (type == "array") {
    const Json* const items = find_member(schema, "items");
    return items == nullptr ? Json::array() : Json::array({example(*items, root)});
  }
  if (type == "object") return required_members(schema, root);
  if (const std::optional<core::UnitKind> unit = core::unit_kind(string_member(schema, "x-unit"))) {
    return Json::parse(core::unit_example(*unit));
  }
  if (!string_member(schema, "x-reference").empty()) return "acc";
  return find_member(schema, "x-path") != nullptr ? "FILE" : "TEXT";
}

Json required_members(const Json& schema, const Json& root) {
  Json members = Json::object();
  const Json* const required = find_member(schema, "required");
  const Json* const properties = find_member(schema, "properties");
  if (required == nullptr || properties == nullptr) return members;
  for (const Json& name : *required) {
    const Json* const property = find_member(*properties, name.get<std::string>());
    if (property != nullptr) members[name.get<std::string>()] = example(*property, root);
  }
  return members;
}

/// Letters, digits and '_', beginning with a letter: what a node may be called.
std::string node_name(std::string_view component) {
  std::string name;
  for (const char c : component) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 ? name : "my_" + name;
}

/// Input ports of a model read the batch; those of losses and metrics read the model first.
Json wires(const core::ComponentInfo& component) {
  Json in = Json::object();
  for (const Port& port : component.ports.in) {
    if (port.optional || port.pass || port.open) continue;
    const std::string name = port.name.starts_with('$') ? port.name.substr(1) : port.name;
    const bool from_model = component.kind != "model" && in.empty();
    in[name] = fmt::format("{}.{}", from_model ? "net" : "batch", name);
  }
  return in;
}

}  // namespace

std::string snippet(const core::ComponentInfo& component) {
  Json node{{"use", component.id()}};
  const std::string& kind = component.kind;
  if (kind == "transform" || kind == "loader") node["in"] = "train_set";
  if (kind == "model" || kind == "loss" || kind == "metric") node["in"] = wires(component);
  if (kind == "optimizer" || kind == "exporter") node["of"] = "net";
  if (kind == "schedule") node["of"] = "opt";
  Json with = required_members(component.parameters, component.parameters);
  if (!with.empty()) node["with"] = std::move(with);
  if (kind == "observer") {
    const bool controls = component.has_ability("tenon.controller/1");
    return fmt::format("\"{}\": [ {} ]", controls ? "stop" : "observe", spaced(node));
  }
  return fmt::format("{}: {}", compact(node_name(component.name)), spaced(node));
}

}  // namespace tenon::host
