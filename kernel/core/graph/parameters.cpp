// Parameters of components, and of the components that stand among them.
#include <string>
#include <utility>

#include <fmt/format.h>

#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/schema/annotations.hpp>
#include <core/text/suggest.hpp>
#include <tenon/components/nesting.hpp>

namespace tenon::core {
namespace {

/// The places of required parameters whose values could not be read: they are not missing.
Diagnostics told_at_required(const Draft& draft, const std::string& pointer, const ComponentInfo& component) {
  Diagnostics told;
  const Json* const required = find_member(component.parameters, "required");
  if (required == nullptr || !required->is_array()) return told;
  for (const Json& name : *required) {
    const std::string place = name.is_string() ? child_pointer(pointer, name.get<std::string>()) : pointer;
    if (place != pointer && draft.was_told(place)) told.add({.pointer = place});
  }
  return told;
}

bool take_own_parameters(Draft& draft, std::string_view pointer, bool is_written, const ComponentInfo& component) {
  Diagnostics found = told_at_required(draft, std::string(pointer), component);
  const std::size_t told = found.all().size();
  bool fine = false;
  try {
    fine = draft.resolved.apply_schema(pointer, component.parameters, component.id(), found);
  } catch (const Error& error) {
    Diagnostic diagnostic = draft.at_value(pointer, "bad-schema", error.what());
    diagnostic.notes.push_back(fmt::format("in the manifest of {}, plugin {}", component.id(), component.plugin));
    diagnostic.error_code = error.code();
    found.add(std::move(diagnostic));
  }
  const bool hidden = !is_written && draft.may_hide_keys(std::string(parent_pointer(pointer)));
  for (std::size_t i = told; i < found.all().size(); ++i) {
    const Diagnostic& each = found.all()[i];
    if (!hidden || each.code != "missing-key") draft.add(each);
  }
  return fine;
}

bool take_parameters(Draft& draft, std::string_view pointer, bool is_written, const ComponentInfo& component,
                     int depth);

/// A component that is a parameter of `outer`, whose own parameters are at `pointer`.
bool take_nested(Draft& draft, const NestedPlace& place, std::string_view pointer, const ComponentInfo& outer,
                 int depth) {
  const std::string use = place.pointer + "/use";
  if (depth > kDeepestNesting) {
    Diagnostic diagnostic = draft.at_value(
        use, "too-deep", fmt::format("components stand within components, {} deep at most", kDeepestNesting));
    draft.add(std::move(diagnostic));
    return false;
  }
  if (!outer.has_ability(Nesting::kAbility)) {
    Diagnostic diagnostic = draft.at_value(
        use, "no-nesting", fmt::format("{} has a component as a parameter, but cannot take it over", outer.id()));
    diagnostic.notes.push_back(fmt::format("plugin {} has to give it the ability {}", outer.plugin, Nesting::kAbility));
    diagnostic.error_code = ErrorCode::kPlugin;
    draft.add(std::move(diagnostic));
    return false;
  }
  const std::string parameter = dotted_path(std::string_view{place.pointer}.substr(pointer.size()));
  const std::string who = fmt::format("{} of {}", core::quoted(parameter), outer.id());
  std::string meant_kind;
  const ComponentInfo* const inner = find_component(draft, use, place.use, place.kind, who, meant_kind);
  if (inner == nullptr) return false;
  const std::string with = place.pointer + "/with";
  const Json* const written = draft.resolved.find(with);
  if (written != nullptr && !written->is_object()) return false;  // the outer one's schema has told
  return take_parameters(draft, with, written != nullptr, *inner, depth);
}

bool take_parameters(Draft& draft, std::string_view pointer, bool is_written, const ComponentInfo& component,
                     int depth) {
  bool fine = take_own_parameters(draft, pointer, is_written, component);
  const Json* const with = draft.resolved.find(pointer);
  if (with == nullptr) return fine;
  for (const NestedPlace& place : nested_places(*with, component.parameters, std::string(pointer))) {
    if (!take_nested(draft, place, pointer, component, depth + 1)) fine = false;
  }
  return fine;
}

}  // namespace

bool take_parameters(Draft& draft, std::string_view pointer, bool is_written, const ComponentInfo& component) {
  return take_parameters(draft, pointer, is_written, component, 0);
}

}  // namespace tenon::core
