// Gives violations their place and their subject.
#include <core/schema/checker.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/violation.hpp>

namespace tenon::core {
namespace {

/// How a message calls the value at `pointer`, or the object there.
std::string name_of(std::string_view pointer, const CheckContext& context, bool is_object) {
  const std::string_view below = pointer.substr(context.base.size());
  if (context.subject.empty()) return pointer.empty() ? "the pipeline" : dotted_path(pointer);
  if (!below.empty()) return fmt::format("{}: {}", context.subject, dotted_path(below));
  return is_object ? context.subject : fmt::format("{}: the value", context.subject);
}

/// An object is pointed at by its key, else by its opening bracket, so that the mark stays on one line.
Span mark_of_object(const Located& located) {
  if (located.key) return located.key;
  Span bracket = located.value;
  bracket.end = std::min(bracket.end, bracket.begin + 1);
  return bracket;
}

Diagnostic to_diagnostic(Violation violation, const CheckContext& context) {
  const Located located = context.locate ? context.locate(violation.pointer) : Located{};
  const bool at_key = violation.at == Violation::At::kKey;
  const bool at_object = violation.at == Violation::At::kObject;
  std::string_view named = violation.pointer;
  if (at_key) named = parent_pointer(named);
  const bool joined = !violation.text.empty() && violation.text.front() == ':';

  Diagnostic diagnostic;
  diagnostic.code = std::move(violation.code);
  diagnostic.message =
      fmt::format("{}{}{}", name_of(named, context, at_key || at_object), joined ? "" : " ", violation.text);
  diagnostic.pointer = violation.pointer;
  diagnostic.label = std::move(violation.label);
  diagnostic.notes = std::move(violation.notes);
  diagnostic.secondary = located.secondary;
  if (violation.hidden) {
    diagnostic.hidden.push_back(located.value);
    for (const Label& each : located.secondary) diagnostic.hidden.push_back(each.span);
  }
  const Located deleted = at_object && !violation.member.empty() && context.locate
                              ? context.locate(child_pointer(violation.pointer, violation.member))
                              : Located{.exact = false};
  if (deleted.exact) {
    diagnostic.span = deleted.value;
    diagnostic.label = std::string(kDeletedHere);
  } else if (at_object || !located.exact) {
    diagnostic.span = mark_of_object(located);
  } else {
    diagnostic.span = at_key && located.key ? located.key : located.value;
  }
  if (violation.replacement && located.exact) {
    const Span target = at_key ? located.key : located.editable;
    const bool quoted_key = at_key && !target.text().empty() && target.text().front() == '"';
    if (target) {
      diagnostic.suggestion = {target, quoted_key ? Json(*violation.replacement).dump() : *violation.replacement,
                               violation.applicability};
    }
  }
  return diagnostic;
}

}  // namespace

void check_value(const Json& value, const Json& schema, const CheckContext& context, Diagnostics& diagnostics) {
  const std::size_t earlier = diagnostics.all().size();
  const auto told = [&](const std::string& pointer) {
    const auto end = diagnostics.all().begin() + static_cast<std::ptrdiff_t>(earlier);
    return std::any_of(diagnostics.all().begin(), end, [&](const Diagnostic& diagnostic) {
      return diagnostic.severity == Severity::kError && diagnostic.pointer == pointer;
    });
  };
  for (Violation& violation : Validator(schema, context.noun).check(value, schema, context.base)) {
    const bool missing = violation.at == Violation::At::kObject;
    if (missing && told(child_pointer(violation.pointer, violation.member))) continue;
    diagnostics.add(to_diagnostic(std::move(violation), context));
  }
}

}  // namespace tenon::core
