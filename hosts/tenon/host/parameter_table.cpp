// Walks a schema and makes a row of each member.
#include <host/parameter_table.hpp>

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/describe.hpp>
#include <host/json_text.hpp>
#include <host/meaning.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

using core::find_member;
using core::Json;

constexpr std::size_t kWidestType = 30;     // Longer enumerations push what follows to the right.
constexpr std::size_t kWidestDefault = 20;  // Longer lists likewise.

/// Names of the properties as they were declared.
std::vector<std::string> ordered_names(const Json& schema) {
  std::vector<std::string> names;
  if (const Json* const order = find_member(schema, "x-order")) {
    for (const Json& name : *order) names.push_back(name.get<std::string>());
  } else if (const Json* const properties = find_member(schema, "properties")) {
    for (const auto& [name, property] : properties->items()) names.push_back(name);
  }
  return names;
}

/// The schema below a key, where it is one.
const Json* schema_below(const Json& schema, const char* key) {
  const Json* const below = find_member(schema, key);
  return below != nullptr && below->is_object() ? below : nullptr;
}

/// As core::describe_type(), with components and secrets as they are written and maps with what they hold.
std::string type_of(const Json& unresolved, const Json& root) {
  const Json& schema = core::follow_reference(unresolved, root);
  if (find_member(schema, "x-secret") != nullptr) return R"({ "env": "…" })";
  if (const Json* const kind = find_member(schema, "x-component")) {
    return fmt::format(R"({{ "use": "{}:…" }})", kind->get<std::string>());
  }
  if (const Json* const alternatives = find_member(schema, "anyOf")) {
    std::string text;
    for (const Json& each : *alternatives) text += (text.empty() ? "" : " | ") + type_of(each, root);
    return text;
  }
  if (const Json* const items = schema_below(schema, "items")) return "list of " + type_of(*items, root);
  if (const Json* const each = schema_below(schema, "additionalProperties")) return "map of " + type_of(*each, root);
  return core::describe_type(schema, root);
}

using Rows = std::vector<ParameterRow>;

void add_members(Rows& rows, const Json& unresolved, const Json& root, const std::string& prefix);

void add_parameters(Rows& rows, const Json& schema, const Json& root, const std::string& prefix) {
  const Json* const properties = find_member(schema, "properties");
  for (const std::string& name : ordered_names(schema)) {
    const Json* const property = properties == nullptr ? nullptr : find_member(*properties, name);
    if (property == nullptr) continue;
    const Meaning meaning = meaning_of(*property, root);
    const Json* const fallback = find_member(*property, "default");
    std::string type = type_of(*property, root);
    // The defaults of a structure are told member by member.
    const std::string given = fallback == nullptr ? "required" : type == "object" ? "" : spaced(*fallback);
    rows.push_back({prefix + name, std::move(type), given,
                    meaning.description + (meaning.schedulable ? "; can be scheduled" : "")});
    add_members(rows, *property, root, prefix + name);
  }
}

/// The rows of what a value is made of. What a component or a secret is made of is the same everywhere and told by its
/// type.
void add_members(Rows& rows, const Json& unresolved, const Json& root, const std::string& prefix) {
  const Json& schema = core::follow_reference(unresolved, root);
  if (find_member(schema, "x-component") != nullptr || find_member(schema, "x-secret") != nullptr) return;
  if (const Json* const alternatives = find_member(schema, "anyOf")) {
    for (const Json& each : *alternatives) add_members(rows, each, root, prefix);
  }
  if (const Json* const items = schema_below(schema, "items")) add_members(rows, *items, root, prefix + "[]");
  if (const Json* const each = schema_below(schema, "additionalProperties")) {
    add_members(rows, *each, root, prefix + ".NAME");
  }
  add_parameters(rows, schema, root, prefix + '.');
}

}  // namespace

std::vector<ParameterRow> parameter_rows(const Json& schema) {
  Rows rows;
  add_parameters(rows, schema, schema, "");
  return rows;
}

std::string parameter_table(const Json& schema, const Console& console) {
  const Paint paint = console.paint();
  Table table(2);
  table.style(0, [&](std::string_view text) { return paint.bold(text); });
  table.style(2, [&](std::string_view text) { return paint.dim(text); });
  table.limit(1, kWidestType);
  table.limit(2, kWidestDefault);
  for (const ParameterRow& row : parameter_rows(schema)) table.add({row.name, row.type, row.fallback, row.meaning});
  return table.render(console.width());
}

}  // namespace tenon::host
