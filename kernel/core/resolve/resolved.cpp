// The merged pipeline: look-up, places, schemas.
#include <core/resolve/resolve.hpp>

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/annotations.hpp>
#include <core/schema/defaults.hpp>

namespace tenon::core {
namespace {

constexpr const char* kHidden = "***";

/// What a corrected value would replace: the value's own text, or the variable's where the value is one reference.
Span editable_part(const Origin& origin) {
  if (origin.variable.empty()) return origin.value;
  const bool alone = origin.value.text() == fmt::format("\"${{vars.{}}}\"", origin.variable);
  return alone ? origin.variable_value : Span{};
}

/// As `find_value`, without searching among all nodes.
template <typename AnyJson>
AnyJson* look_up(AnyJson& root, const std::unordered_map<std::string, std::size_t>& positions,
                 std::string_view pointer) noexcept {
  constexpr std::string_view kNodes = "/nodes/";
  if (!pointer.starts_with(kNodes)) return find_value(root, pointer);
  const std::string_view below = pointer.substr(kNodes.size());
  const std::string_view name = below.substr(0, below.find('/'));
  const auto found = positions.find(std::string(name));
  AnyJson* const nodes = find_value(root, "/nodes");
  if (found == positions.end() || nodes == nullptr)
    return find_value(root, pointer);  // Also for a name with "/" or "~".
  using Members = std::conditional_t<std::is_const_v<AnyJson>, const Json::object_t&, Json::object_t&>;
  const auto node = nodes->template get_ref<Members>().begin() + static_cast<std::ptrdiff_t>(found->second);
  return find_value(node->second, below.substr(name.size()));
}

}  // namespace

Resolved::Resolved(Json value, PointerTable<Origin> origins) : value_(std::move(value)), origins_(std::move(origins)) {
  const Json* const nodes = find_member(value_, "nodes");
  if (nodes == nullptr || !nodes->is_object()) return;
  for (const auto& [name, node] : nodes->get_ref<const Json::object_t&>()) nodes_.emplace(name, nodes_.size());
}

const Json* Resolved::find(std::string_view pointer) const noexcept { return look_up(value_, nodes_, pointer); }

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

Diagnostic Resolved::error_at_missing(std::string_view object, std::string_view key, std::string code,
                                      std::string message) const {
  Diagnostic diagnostic = error_at_key(object, std::move(code), std::move(message));
  const Located deleted = locate(child_pointer(object, key));
  if (deleted.exact) {
    diagnostic.span = deleted.value;
    diagnostic.label = std::string(kDeletedHere);
  }
  return diagnostic;
}

std::optional<std::filesystem::path> Resolved::path(std::string_view pointer) const {
  const Json* value = find(pointer);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  const std::filesystem::path path(value->get_ref<const std::string&>());
  const Origin& from = origin(pointer);
  return from.folder == nullptr ? path : *from.folder / path;
}

void Resolved::add_default(std::string_view pointer, Json value, std::string subject) {
  append_member(*look_up(value_, nodes_, parent_pointer(pointer)), last_segment(pointer), std::move(value));
  origins_.put(pointer, {.kind = LayerKind::kDefault, .subject = std::move(subject)});
}

bool Resolved::apply_schema(std::string_view pointer, const Json& schema, std::string subject,
                            Diagnostics& diagnostics) {
  CheckContext context{.subject = subject};
  return apply(pointer, schema, std::move(context), std::move(subject), diagnostics);
}

void Resolved::hide_secrets(std::span<const Diagnostic> findings) {
  Json* const section = find_value(value_, "/vars");
  for (const Diagnostic& finding : findings) {
    if (finding.hidden.empty()) continue;
    if (Json* const value = find_value(value_, finding.pointer)) *value = kHidden;
    if (section == nullptr || !section->is_object()) continue;
    const std::string_view written = origin(finding.pointer).value.text();
    for (auto& [name, variable] : section->get_ref<Json::object_t&>()) {
      if (written.find(fmt::format("${{vars.{}}}", name)) != std::string_view::npos) variable = kHidden;
    }
  }
}

void Resolved::refuse_variables_as_secrets(Json& value, const Json& schema, const CheckContext& context,
                                           Diagnostics& diagnostics) const {
  visit_annotated(value, schema, context.base, [&](const Json& secret, const Json& rule, const std::string& place) {
    if (!rule.contains("x-secret") || !secret.is_object() || origin(place).variable.empty()) return;
    const std::string name = dotted_path(std::string_view{place}.substr(context.base.size()));
    Diagnostic diagnostic = error_at_value(
        place, "bad-secret", fmt::format("{}: {} is a secret, which a variable cannot hold", context.subject, name));
    diagnostic.label = "write { \"env\": … } here; its text may hold a variable";
    diagnostics.add(std::move(diagnostic));
  });
}

bool Resolved::apply(std::string_view pointer, const Json& schema, CheckContext context, std::string owner,
                     Diagnostics& diagnostics) {
  const Origin fallback{.kind = LayerKind::kDefault, .subject = std::move(owner)};
  Json* value = look_up(value_, nodes_, pointer);
  if (value == nullptr) {
    Json* parent = look_up(value_, nodes_, parent_pointer(pointer));
    if (parent == nullptr || !parent->is_object()) return false;
    value = &append_member(*parent, last_segment(pointer), Json::object());
    origins_.put(pointer, fallback);
  }
  context.base = pointer;
  context.locate = [this](std::string_view place) { return locate(place); };
  const std::size_t errors = diagnostics.errors();
  const std::size_t earlier = diagnostics.all().size();
  check_value(*value, schema, context, diagnostics);
  hide_secrets(std::span(diagnostics.all()).subspan(earlier));
  refuse_variables_as_secrets(*value, schema, context, diagnostics);
  for (const std::string& added : fill_defaults(*value, schema, pointer)) origins_.put(added, fallback);
  return diagnostics.errors() == errors;
}

}  // namespace tenon::core
