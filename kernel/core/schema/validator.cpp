// The keywords of draft 7 that manifests use.
#include <core/schema/violation.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/describe.hpp>
#include <core/text/source.hpp>
#include <core/text/suggest.hpp>
#include <core/units.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

constexpr int kDeepest = 1000;  // Schemas that refer to themselves end with the value, unless they are broken.
constexpr std::size_t kLongestMatched = 1000;  // std::regex recurses by the length of the text.

bool is_type(const Json& value, std::string_view type) noexcept {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

/// Exact for 64-bit integers and doubles.
long double number_of(const Json& value) {
  if (value.is_number_unsigned()) return static_cast<long double>(value.get<std::uint64_t>());
  if (value.is_number_integer()) return static_cast<long double>(value.get<std::int64_t>());
  return static_cast<long double>(value.get<double>());
}

std::optional<std::size_t> limit_of(const Json& schema, std::string_view keyword) {
  const Json* limit = find_member(schema, keyword);
  return limit != nullptr && limit->is_number_unsigned() ? std::optional(limit->get<std::size_t>()) : std::nullopt;
}

std::optional<UnitKind> unit_of(const Json& schema) {
  const Json* unit = find_member(schema, "x-unit");
  return unit != nullptr && unit->is_string() ? unit_kind(unit->get_ref<const std::string&>()) : std::nullopt;
}

std::string hint_of(const Json& schema) {
  const Json* hint = find_member(schema, "description");
  return hint != nullptr && hint->is_string() ? hint->get<std::string>() : std::string();
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Whether an unknown key of the object at `pointer` was taken for this one already.
bool is_misspelt(const std::string& name, const std::string& pointer, const std::vector<Violation>& violations) {
  return std::any_of(violations.begin(), violations.end(), [&](const Violation& violation) {
    return violation.at == Violation::At::kKey && violation.replacement == name &&
           parent_pointer(violation.pointer) == pointer;
  });
}

/// Whether a number lies within the bounds of a schema.
bool in_bounds(long double number, const Json& schema) {
  const auto holds = [&](const char* keyword, const auto& compare) {
    const Json* bound = find_member(schema, keyword);
    return bound == nullptr || !bound->is_number() || compare(number, number_of(*bound));
  };
  return holds("minimum", std::greater_equal<>()) && holds("maximum", std::less_equal<>()) &&
         holds("exclusiveMinimum", std::greater<>()) && holds("exclusiveMaximum", std::less<>());
}

}  // namespace

bool Validator::names_secret(const Json& value, const Json& schema) {
  const Json* const variable = find_member(value, "env");
  if (variable == nullptr || !variable->is_string() || value.size() != 1) return false;
  const Json* const rule = find_value(schema, "/properties/env/pattern");
  const auto& name = variable->get_ref<const std::string&>();
  return rule != nullptr && rule->is_string() ? matches(name, rule->get<std::string>()) : !name.empty();
}

std::vector<Violation> Validator::check(const Json& value, const Json& schema, const std::string& pointer) {
  Violations out;
  check_into(value, schema, pointer, out);
  return out;
}

bool Validator::holds(const Json& value, const Json& schema) {
  const bool before = std::exchange(quiet_, true);
  const bool none = check(value, schema, "").empty();
  quiet_ = before;
  return none;
}

void Validator::check_into(const Json& value, const Json& unresolved, const std::string& pointer, Violations& out) {
  const Json& schema = follow_reference(unresolved, root_);
  if (schema.is_boolean()) {
    if (schema == false) out.push_back({.code = "bad-value", .pointer = pointer, .text = "is not allowed here"});
    return;
  }
  if (find_member(schema, "x-secret") != nullptr) {
    if (!names_secret(value, schema)) out.push_back(bad_secret(schema, pointer));
    return;
  }
  if (++depth_ > kDeepest) throw Error(ErrorCode::kPlugin, "the schema contains itself");
  const std::size_t before = out.size();
  check_combined(value, schema, pointer, out);
  if (out.size() == before && check_constants(value, schema, pointer, out) && check_type(value, schema, pointer, out)) {
    if (value.is_number()) check_number(value, schema, pointer, out);
    if (value.is_string()) check_string(value, schema, pointer, out);
    if (value.is_array()) check_array(value, schema, pointer, out);
    if (value.is_object()) check_object(value, schema, pointer, out);
  }
  --depth_;
}

void Validator::check_combined(const Json& value, const Json& schema, const std::string& pointer, Violations& out) {
  if (const Json* all = find_member(schema, "allOf")) {
    for (const Json& part : *all) check_into(value, part, pointer, out);
  }
  for (const char* keyword : {"anyOf", "oneOf"}) {
    const Json* alternatives = find_member(schema, keyword);
    if (alternatives == nullptr) continue;
    const auto holding = std::count_if(alternatives->begin(), alternatives->end(),
                                       [&](const Json& alternative) { return holds(value, alternative); });
    if (holding == 0) {
      for (Violation& violation : best_alternative(value, schema, pointer)) out.push_back(std::move(violation));
    } else if (holding > 1 && keyword == std::string_view("oneOf")) {
      out.push_back({.code = "bad-value",
                     .pointer = pointer,
                     .text = "fits more than one of its forms",
                     .label = fmt::format("exactly one of: {}", describe_type(schema, root_))});
    }
  }
  const Json* excluded = find_member(schema, "not");
  if (excluded != nullptr && holds(value, *excluded)) {
    out.push_back({.code = "bad-value",
                   .pointer = pointer,
                   .text = fmt::format("must not be {}", describe_value(value)),
                   .label = hint_of(schema)});
  }
}

bool Validator::check_constants(const Json& value, const Json& schema, const std::string& pointer, Violations& out) {
  const Json* constant = find_member(schema, "const");
  const Json* values = find_member(schema, "enum");
  const bool constant_holds = constant == nullptr || *constant == value;
  const bool enum_holds = values == nullptr || std::find(values->begin(), values->end(), value) != values->end();
  if (constant_holds && enum_holds) return true;

  std::vector<std::string> names;
  const auto add_name = [&](const Json& allowed) {
    if (allowed.is_string()) names.push_back(allowed.get<std::string>());
  };
  if (constant != nullptr) add_name(*constant);
  if (values != nullptr) std::for_each(values->begin(), values->end(), add_name);
  const bool same_type = names.empty() || value.is_string();
  out.push_back(same_type ? unknown_value(value, schema, names, pointer) : wrong_type(value, schema, pointer));
  return false;
}

bool Validator::check_type(const Json& value, const Json& schema, const std::string& pointer, Violations& out) {
  const Json* type = find_member(schema, "type");
  if (type == nullptr) return true;
  const auto fits = [&](const Json& name) {
    return name.is_string() && is_type(value, name.get_ref<const std::string&>());
  };
  if (type->is_array() ? std::any_of(type->begin(), type->end(), fits) : fits(*type)) return true;
  out.push_back(wrong_type(value, schema, pointer));
  return false;
}

void Validator::check_number(const Json& value, const Json& schema, const std::string& pointer, Violations& out) {
  if (!in_bounds(number_of(value), schema)) {
    out.push_back({.code = "out-of-range",
                   .pointer = pointer,
                   .text = fmt::format("must be {}, not {}", describe_wanted(schema, root_), describe_value(value)),
                   .label = fmt::format("allowed: {}", describe_type(schema, root_))});
  }
  const Json* step = find_member(schema, "multipleOf");
  if (step != nullptr && std::fmod(number_of(value), number_of(*step)) != 0) {
    out.push_back({.code = "out-of-range",
                   .pointer = pointer,
                   .text = fmt::format("must be a multiple of {}, not {}", step->dump(), describe_value(value))});
  }
}

void Validator::check_string(const Json& value, const Json& schema, const std::string& pointer, Violations& out) {
  const auto& text = value.get_ref<const std::string&>();
  if (const std::optional<UnitKind> kind = unit_of(schema)) {
    const auto result = parse_quantity(text, std::array{*kind});
    if (const auto* error = std::get_if<QuantityError>(&result)) {
      const std::optional<std::string>& mended = error->replacement;
      out.push_back({.code = "bad-unit",
                     .pointer = pointer,
                     .text = fmt::format(": {}", error->message),
                     .label = error->fix,
                     .replacement = mended ? std::optional(Json(*mended).dump()) : std::nullopt});
    } else if (!in_bounds(std::get<Quantity>(result).value, schema)) {
      out.push_back({.code = "out-of-range",
                     .pointer = pointer,
                     .text = fmt::format("must not be {}", core::quoted(text)),
                     .label = "too small"});
    }
  }
  const std::size_t length = count_code_points(text);
  const std::optional<std::size_t> least = limit_of(schema, "minLength");
  const std::optional<std::size_t> most = limit_of(schema, "maxLength");
  if (least && length < *least) {
    out.push_back(
        {.code = "bad-length",
         .pointer = pointer,
         .text = text.empty() ? "must not be empty" : fmt::format("needs at least {}", counted(*least, "character"))});
  }
  if (most && length > *most) {
    out.push_back({.code = "bad-length",
                   .pointer = pointer,
                   .text = fmt::format("may have {} at most", counted(*most, "character"))});
  }
  const Json* pattern = find_member(schema, "pattern");
  if (pattern != nullptr && !matches(text, pattern->get<std::string>())) {
    out.push_back({.code = "bad-format",
                   .pointer = pointer,
                   .text = fmt::format("must match {}", pattern->get<std::string>()),
                   .label = hint_of(schema)});
  }
}

void Validator::check_array(const Json& value, const Json& schema, const std::string& pointer, Violations& out) {
  const std::optional<std::size_t> least = limit_of(schema, "minItems");
  const std::optional<std::size_t> most = limit_of(schema, "maxItems");
  if (least && value.size() < *least) {
    out.push_back({.code = "bad-length",
                   .pointer = pointer,
                   .text = fmt::format("needs at least {}, not {}", counted(*least, "element"), value.size())});
  }
  if (most && value.size() > *most) {
    out.push_back({.code = "bad-length",
                   .pointer = pointer,
                   .text = fmt::format("may have {} at most, not {}", counted(*most, "element"), value.size())});
  }
  const Json* unique = find_member(schema, "uniqueItems");
  const bool wants_unique = unique != nullptr && *unique == true;
  std::set<std::string> seen;
  const Json* items = find_member(schema, "items");
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string element = child_pointer(pointer, i);
    if (wants_unique && !seen.insert(value[i].dump(-1, ' ', false, Json::error_handler_t::replace)).second) {
      out.push_back({.code = "bad-length",
                     .pointer = element,
                     .text = "stands twice in its list",
                     .label = "remove one of the two"});
    }
    if (items != nullptr) check_into(value[i], *items, element, out);
  }
}

void Validator::check_object(const Json& value, const Json& schema, const std::string& pointer, Violations& out) {
  const Json* names = find_member(schema, "propertyNames");
  for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
    if (names != nullptr && !holds(Json(name), *names)) {
      const Json& rule = follow_reference(*names, root_);
      out.push_back({.code = "bad-name",
                     .pointer = child_pointer(pointer, name),
                     .at = Violation::At::kKey,
                     .text = fmt::format("holds the invalid name {}", core::quoted(name)),
                     .label = hint_of(rule)});
      continue;
    }
    check_member(name, member, schema, pointer, out);
  }
  const std::optional<std::size_t> least = limit_of(schema, "minProperties");
  if (least && value.size() < *least) {
    out.push_back({.code = "bad-length",
                   .pointer = pointer,
                   .at = Violation::At::kObject,
                   .text = fmt::format("needs at least {}", counted(*least, noun_))});
  }
  const Json* required = find_member(schema, "required");
  if (required == nullptr) return;
  for (const Json& needed : *required) {
    const std::string name = needed.get<std::string>();
    if (find_member(value, name) != nullptr || is_misspelt(name, pointer, out)) continue;
    const Json* properties = find_member(schema, "properties");
    const Json* property = properties != nullptr ? find_member(*properties, name) : nullptr;
    const std::string type =
        property != nullptr ? fmt::format(" ({})", describe_type(*property, root_)) : std::string();
    const std::string hint = property != nullptr ? hint_of(*property) : std::string();
    Violation violation{.code = "missing-key",
                        .pointer = pointer,
                        .at = Violation::At::kObject,
                        .text = fmt::format("needs the {} {}{}", noun_, core::quoted(name), type),
                        .label = fmt::format("add {}", core::quoted(name)),
                        .member = name};
    if (!hint.empty()) violation.notes = {fmt::format("{}: {}", name, hint)};
    out.push_back(std::move(violation));
  }
}

void Validator::check_member(const std::string& name, const Json& member, const Json& schema,
                             const std::string& pointer, Violations& out) {
  bool known = false;
  const Json* properties = find_member(schema, "properties");
  if (const Json* property = properties != nullptr ? find_member(*properties, name) : nullptr) {
    known = true;
    check_into(member, *property, child_pointer(pointer, name), out);
  }
  if (const Json* by_pattern = find_member(schema, "patternProperties")) {
    for (const auto& [pattern, property] : by_pattern->items()) {
      if (!matches(name, pattern)) continue;
      known = true;
      check_into(member, property, child_pointer(pointer, name), out);
    }
  }
  const Json* additional = find_member(schema, "additionalProperties");
  if (known || additional == nullptr) return;
  if (*additional == false) {
    out.push_back(unknown_key(name, schema, pointer));
  } else {
    check_into(member, *additional, child_pointer(pointer, name), out);
  }
}

bool Validator::matches(const std::string& text, const std::string& pattern) {
  if (text.size() > kLongestMatched) return false;
  auto known = patterns_.find(pattern);
  if (known == patterns_.end()) {
    try {
      known = patterns_.emplace(pattern, std::regex(pattern, std::regex::ECMAScript | std::regex::optimize)).first;
    } catch (const std::regex_error&) {
      throw Error(ErrorCode::kPlugin, fmt::format("the schema holds the invalid pattern {}", core::quoted(pattern)));
    }
  }
  return std::regex_search(text, known->second);
}

}  // namespace tenon::core
