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

constexpr const char* kText = "TEXT";  // stands for a text of which nothing is known

/// Which members an example has.
enum class Members { kRequired, kAll };

Json members_of(const Json& schema, const Json& root, Members which);

/// The smallest whole number that the bounds allow, 1 where they allow that.
int64_t number_within(const Json& schema) {
  double least = 1;
  if (const Json* const bound = find_member(schema, "minimum")) least = std::max(least, bound->get<double>());
  if (const Json* const bound = find_member(schema, "exclusiveMinimum"))
    least = std::max(least, bound->get<double>() + 1);
  if (const Json* const bound = find_member(schema, "maximum")) least = std::min(least, bound->get<double>());
  return static_cast<int64_t>(least);
}

/// A value that the schema takes. Objects in lists have all their members, because lists are written by hand.
Json example(const Json& unresolved, const Json& root, Members which = Members::kRequired) {
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
    return items == nullptr ? Json::array() : Json::array({example(*items, root, Members::kAll)});
  }
  if (const std::string kind = string_member(schema, "x-component"); !kind.empty()) return {{"use", kind + ":NAME"}};
  if (find_member(schema, "x-secret") != nullptr) return {{"env", "NAME"}};
  if (type == "object") return members_of(schema, root, which);
  if (const std::optional<core::UnitKind> unit = core::unit_kind(string_member(schema, "x-unit"))) {
    return Json::parse(core::unit_example(*unit));
  }
  if (!string_member(schema, "x-reference").empty()) return "acc";
  return find_member(schema, "x-path") != nullptr ? "FILE" : kText;
}

Json members_of(const Json& schema, const Json& root, Members which) {
  Json members = Json::object();
  const Json* names = which == Members::kAll ? find_member(schema, "x-order") : nullptr;
  if (names == nullptr) names = find_member(schema, "required");
  const Json* const properties = find_member(schema, "properties");
  if (names == nullptr || properties == nullptr) return members;
  for (const Json& name : *names) {
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

/// A port's name, where a parameter gives it as that is by default.
std::string port_name(const Port& port, const Json& parameters) {
  if (!port.name.starts_with('$')) return port.name;
  std::string name = port.name.substr(1);
  const Json* const properties = find_member(parameters, "properties");
  const Json* const parameter = properties == nullptr ? nullptr : find_member(*properties, name);
  std::string given = parameter == nullptr ? "" : string_member(*parameter, "default");
  return given.empty() ? name : given;
}

/// Input ports of a model read the batch; those of losses and metrics read the model first.
Json wires(const core::ComponentInfo& component) {
  Json in = Json::object();
  for (const Port& port : component.ports.in) {
    if (port.optional || port.pass || port.open) continue;
    const std::string name = port_name(port, component.parameters);
    const bool from_model = component.kind != "model" && in.empty();
    in[name] = fmt::format("{}.{}", from_model ? "net" : "batch", name);
  }
  return in;
}

/// Texts of parameters that name a field of a sample say so.
void name_fields(Json& with, const std::vector<Port>& ports) {
  for (const Port& port : ports) {
    const auto found = port.name.starts_with('$') ? with.find(port.name.substr(1)) : with.end();
    if (found == with.end()) continue;
    Json& name = found->is_array() && !found->empty() ? found->front() : *found;
    if (name == kText) name = "FIELD";
  }
}

/// On one line where that fits behind `indent` columns, or else a member a line.
std::string laid_out(const Json& value, std::size_t indent) {
  constexpr std::size_t kWidth = 100;
  std::string line = spaced(value);
  if (!value.is_object() || indent + line.size() <= kWidth) return line;
  std::string out = "{ ";
  for (const auto& [key, member] : value.items()) {
    if (out.size() > 2) out += ",\n" + std::string(indent + 2, ' ');
    const std::string head = compact(key) + ": ";
    out += head + laid_out(member, indent + 2 + head.size());
  }
  return out + " }";
}

}  // namespace

std::string snippet(const core::ComponentInfo& component) {
  Json node{{"use", component.id()}};
  const std::string& kind = component.kind;
  if (kind == "transform" || kind == "loader" || component.has_ability("tenon.derived/1")) node["in"] = "train_set";
  if (kind == "model" || kind == "loss" || kind == "metric") node["in"] = wires(component);
  if (kind == "optimizer" || kind == "exporter") node["of"] = "net";
  if (kind == "schedule") node["of"] = "opt";
  Json with = members_of(component.parameters, component.parameters, Members::kRequired);
  if (kind == "dataset" || kind == "transform") {
    name_fields(with, component.ports.in);
    name_fields(with, component.ports.out);
  }
  if (!with.empty()) node["with"] = std::move(with);
  if (kind == "observer") {
    const bool controls = component.has_ability("tenon.controller/1");
    const std::string head = fmt::format("\"{}\": [ ", controls ? "stop" : "observe");
    return head + laid_out(node, head.size()) + " ]";
  }
  const std::string head = compact(node_name(component.name)) + ": ";
  return head + laid_out(node, head.size());
}

}  // namespace tenon::host
