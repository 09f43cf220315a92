// Walks values and schemas side by side.
#include <core/schema/annotations.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <core/json/pointer.hpp>
#include <core/schema/describe.hpp>

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

constexpr int kDeepestSecret = 5;

bool holds_secret(const Json& unresolved, const Json& root, int depth) {
  const Json& schema = follow_reference(unresolved, root);
  if (!schema.is_object() || depth > kDeepestSecret) return false;
  if (find_member(schema, "x-secret") != nullptr) return true;
  const auto below = [&](const Json& part) { return holds_secret(part, root, depth + 1); };
  for (const char* const part : {"items", "additionalProperties"}) {
    const Json* const found = find_member(schema, part);
    if (found != nullptr && below(*found)) return true;
  }
  for (const char* const parts : {"properties", "anyOf", "oneOf"}) {
    const Json* const found = find_member(schema, parts);
    if (found != nullptr && std::any_of(found->begin(), found->end(), below)) return true;
  }
  return false;
}

/// The part of a schema that describes the member or element `key`; null when none does.
const Json* part_for(const Json& schema, const std::string& key) {
  const Json* const properties = find_member(schema, "properties");
  if (const Json* const own = properties == nullptr ? nullptr : find_member(*properties, key)) return own;
  for (const char* const part : {"additionalProperties", "items"}) {
    const Json* const found = find_member(schema, part);
    if (found != nullptr && found->is_object()) return found;
  }
  return nullptr;
}

bool may_hold_secret(const Json& unresolved, const Json& root, std::span<const std::string> place, int depth) {
  const Json& schema = follow_reference(unresolved, root);
  if (!schema.is_object() || depth > kDeepestNesting) return false;
  if (place.empty()) return holds_secret(schema, root, 0);
  if (find_member(schema, "x-secret") != nullptr) return true;
  bool has_forms = false;
  for (const char* const choice : {"anyOf", "oneOf"}) {
    const Json* const forms = find_member(schema, choice);
    if (forms == nullptr) continue;
    has_forms = true;
    const auto may = [&](const Json& form) { return may_hold_secret(form, root, place, depth + 1); };
    if (std::any_of(forms->begin(), forms->end(), may)) return true;
  }
  if (const Json* const part = part_for(schema, place.front())) {
    return may_hold_secret(*part, root, place.subspan(1), depth + 1);
  }
  return !has_forms && holds_secret(schema, root, 0);
}

}  // namespace

bool holds_secret(const Json& schema, const Json& root) { return holds_secret(schema, root, 0); }

bool may_hold_secret(const Json& schema, std::span<const std::string> place) {
  return may_hold_secret(schema, schema, place, 0);
}

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
