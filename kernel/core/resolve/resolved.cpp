// The merged pipeline: look-up, places, schemas.
#include <core/resolve/resolve.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/defaults.hpp>

namespace tenon::core {
namespace {

/// What a corrected value would replace: the value's own text, or the variable's where the value is one reference.
Span editable_part(const Origin& origin) {
  if (origin.variable.empty()) return origin.value;
  const bool alone = origin.value.text() == fmt::format("\"${{vars.{}}}\"", origin.variable);
  return alone ? origin.variable_value : Span{};
}

}  // namespace

Resolved::Resolved(Json value, PointerTable<Origin> origins) : value_(std::move(value)), origins_(std::move(origins)) {}

const Json* Resolved::find(std::string_view pointer) const noexcept { return find_value(value_, pointer); }

const Origin& Resolved::origin(std::string_view pointer) const { return *origins_.find_nearest(pointer).first; }

Located Resolved::locate(std::string_view pointer) const {
  auto [origin, exact] = origins_.find_nearest(pointer);
  while (origin->kind == LayerKind::kDefault && !pointer.empty()) {
    pointer = parent_pointer(pointer);
    origin = origins_.find_nearest(pointer).first;
    exact = false;
  }
  Located located{.key = origin->key, .value = origin->value, .exact = exact};
  if (exact) located.editable = editable_part(*origin);
  if (!origin->variable.empty()) {
    located.secondary.push_back({origin->variable_value, fmt::format("the value of vars.{}", origin->variable)});
  }
  return located;
}

Diagnostic Resolved::error_at_value(std::string_view pointer, std::string code, std::string message) const {
  const Located located = locate(pointer);
  Diagnostic diagnostic{.code = std::move(code), .message = std::move(message), .pointer = std::string(pointer)};
  diagnostic.span = located.exact || !located.key ? located.value : located.key;
  if (!located.exact && !located.key) diagnostic.span.end = std::min(diagnostic.span.end, diagnostic.span.begin + 1);
  diagnostic.secondary = located.secondary;
  return diagnostic;
}

Diagnostic Resolved::error_at_key(std::string_view pointer, std::string code, std::string message) const {
  Diagnostic diagnostic = error_at_value(pointer, std::move(code), std::move(message));
  const Located located = locate(pointer);
  if (located.key) diagnostic.span = located.key;
  return diagnostic;
}

std::optional<std::filesystem::path> Resolved::path(std::string_view pointer) const {
  const Json* value = find(pointer);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  const std::filesystem::path path(value->get_ref<const std::string&>());
  const Origin& from = origin(pointer);
  return from.folder == nullptr ? path : *from.folder / path;
}

bool Resolved::apply_schema(std::string_view pointer, const Json& schema, std::string subject,
                            Diagnostics& diagnostics) {
  CheckContext context{.subject = subject};
  return apply(pointer, schema, std::move(context), std::move(subject), diagnostics);
}

bool Resolved::apply(std::string_view pointer, const Json& schema, CheckContext context, std::string owner,
                     Diagnostics& diagnostics) {
  const Origin fallback{.kind = LayerKind::kDefault, .subject = std::move(owner)};
  Json* value = find_value(value_, pointer);
  if (value == nullptr) {
    Json* parent = find_value(value_, parent_pointer(pointer));
    if (parent == nullptr || !parent->is_object()) return false;
    value = &append_member(*parent, last_segment(pointer), Json::object());
    origins_.put(pointer, fallback);
  }
  context.base = pointer;
  context.locate = [this](std::string_view place) { return locate(place); };
  const std::size_t errors = diagnostics.errors();
  check_value(*value, schema, context, diagnostics);
  for (const std::string& added : fill_defaults(*value, schema, pointer)) origins_.put(added, fallback);
  return diagnostics.errors() == errors;
}

}  // namespace tenon::core
