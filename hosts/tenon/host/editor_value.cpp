// One type more, one alternative more, or a longer pattern.
#include <host/editor_value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/units.hpp>

namespace tenon::host {
namespace {

using core::find_member;
using core::Json;

constexpr std::string_view kVariable = R"(\$\{vars\.[a-z][a-z0-9_]*\})";
constexpr std::string_view kWhole = R"((?:[0-9]+\.?0*|[0-9]*\.?[0-9]*[eE]\+?[0-9]+))";
constexpr std::string_view kNumber = R"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)";

/// As tenon/quantity.hpp reads it; with `above_zero`, nothing that is plainly none.
std::string quantity_pattern(core::UnitKind kind, bool above_zero) {
  const std::string_view begin = above_zero ? R"(^(?!0+ *[a-zA-Z]))" : "^";
  switch (kind) {
    case core::UnitKind::kSpan: return fmt::format("{}{} *(?:steps?|epochs?|samples?) *$", begin, kWhole);
    case core::UnitKind::kTime: return fmt::format("{}{} *(?:ms|s|min|h|d) *$", begin, kNumber);
    case core::UnitKind::kBytes: return fmt::format("{}{} *(?:B|[kMGT]B|[KMGT]iB) *$", begin, kNumber);
  }
  return "";
}

/// The schema as one of several; what people read of it stays outside.
Json one_of_several(Json schema, Json other) {
  if (find_member(schema, "anyOf") != nullptr) {
    schema["anyOf"].push_back(std::move(other));
    return schema;
  }
  Json outer = Json::object();
  for (const char* const key : {"description", "default"}) {
    if (const Json* const value = find_member(schema, key)) {
      outer[key] = *value;
      schema.erase(key);
    }
  }
  outer["anyOf"] = Json::array({std::move(schema), std::move(other)});
  return outer;
}

/// One of given values.
bool chosen(const Json& schema) {
  return find_member(schema, "const") != nullptr || find_member(schema, "enum") != nullptr;
}

}  // namespace

Json variable_inside() { return {{"type", "string"}, {"pattern", kVariable}}; }

void spell_quantity(Json& out, const Json& schema) {
  const Json* const unit = find_member(schema, "x-unit");
  const std::optional<core::UnitKind> kind = unit != nullptr ? core::unit_kind(unit->get<std::string>()) : std::nullopt;
  if (!kind) return;
  out["pattern"] = quantity_pattern(*kind, find_member(schema, "exclusiveMinimum") != nullptr);
  out["patternErrorMessage"] = fmt::format("write it like {}", core::unit_example(*kind));
  out["examples"] = Json::array({Json::parse(core::unit_example(*kind))});
  for (const char* const bound : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}) out.erase(bound);
}

Json opened(Json out, std::string_view wanted) {
  if (Json* const alternatives = core::find_value(out, "/oneOf")) {  // Two of which might take a reference now.
    out["anyOf"] = Json(*alternatives);
    out.erase("oneOf");
  }
  if (chosen(out) || find_member(out, "anyOf") != nullptr) return one_of_several(std::move(out), variable_inside());
  const Json* const type = find_member(out, "type");
  if (type == nullptr) return out;
  if (*type == "string") {
    if (const Json* const pattern = find_member(out, "pattern")) {
      out["pattern"] = fmt::format("(?:{})|{}", pattern->get<std::string>(), kVariable);
    }
    return out;
  }
  out["type"] = Json::array({*type, "string"});
  out["pattern"] = fmt::format("^{}$", kVariable);
  out["patternErrorMessage"] = fmt::format("must be {}, or a variable such as \"${{vars.name}}\"", wanted);
  return out;
}

Json deletable(Json out) {
  Json null{{"type", "null"}};
  Json* const type = core::find_value(out, "/type");
  const bool alternatives = chosen(out) || find_member(out, "anyOf") != nullptr || find_member(out, "$ref") != nullptr;
  if (alternatives) return one_of_several(std::move(out), std::move(null));
  if (type == nullptr) return out;
  if (!type->is_array()) *type = Json::array({*type});
  type->push_back("null");
  return out;
}

}  // namespace tenon::host
