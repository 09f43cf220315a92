// Walks values and schemas side by side.
#include <core/schema/annotations.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <core/json/pointer.hpp>

namespace tenon::core {
namespace {

bool is_annotated(const Json& schema) {
  constexpr std::array<std::string_view, 4> kAnnotations{"x-path", "x-reference", "x-component", "x-secret"};
  return std::any_of(kAnnotations.begin(), kAnnotations.end(),
                     [&](std::string_view each) { return find_member(schema, each) != nullptr; });
}

/// `Value` is Json or const Json.
template <typename Value, typename Visit>
void walk(Value& value, const Json& schema, const std::string& pointer, const Visit& visit) {
  if (!schema.is_object()) return;
  if (is_annotated(schema)) visit(value, schema, pointer);
  for (const char* const choice : {"anyOf", "oneOf", "allOf"}) {
    const Json* const choices = find_member(schema, choice);
    if (choices == nullptr || !choices->is_array()) continue;
    const bool is_word = std::any_of(choices->begin(), choices->end(), [&](const Json& each) {
      const Json* const word = find_member(each, "const");
      return word != nullptr && *word == value;
    });
    if (is_word) continue;
    for (const Json& each : *choices) walk(value, each, pointer, visit);
  }
  if (value.is_object()) {
    const Json* const properties = find_member(schema, "properties");
    const Json* const others = find_member(schema, "additionalProperties");
    for (const auto& [key, member] : value.items()) {
      const Json* const own = properties == nullptr ? nullptr : find_member(*properties, key);
      if (const Json* const rule = own != nullptr ? own : others) {
        walk(member, *rule, child_pointer(pointer, key), visit);
      }
    }
  }
  const Json* const items = find_member(schema, "items");
  if (value.is_array() && items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) walk(value[i], *items, child_pointer(pointer, i), visit);
  }
}

}  // namespace

void visit_annotated(Json& value, const Json& schema, const std::string& pointer, const VisitAnnotated& visit) {
  walk(value, schema, pointer, visit);
}

std::vector<NestedPlace> nested_places(const Json& value, const Json& schema, const std::string& pointer) {
  std::vector<NestedPlace> places;
  walk(value, schema, pointer, [&](const Json& found, const Json& rule, const std::string& place) {
    const Json* const kind = find_member(rule, "x-component");
    const Json* const use = find_member(found, "use");
    if (kind == nullptr || !kind->is_string() || use == nullptr || !use->is_string()) return;
    places.push_back({place, kind->get<std::string>(), use->get<std::string>()});
  });
  return places;
}

}  // namespace tenon::core
