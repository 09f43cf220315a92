// What is said of a violation: alternatives, names that were meant, values mended.
#include <core/schema/violation.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/annotations.hpp>
#include <core/schema/describe.hpp>
#include <core/text/suggest.hpp>
#include <core/units.hpp>

namespace tenon::core {
namespace {

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Another value that may have been meant, and how to say so.
struct Repair {
  Json value;
  std::string label;
  Applicability applicability;
};

std::vector<Repair> repairs_of(const Json& value) {
  std::vector<Repair> repairs;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    Json inner = Json::parse(text, nullptr, false);
    const bool plain = text.find_first_of(" \t\r\n") == std::string::npos;
    if (!inner.is_discarded() && plain && (inner.is_number() || inner.is_boolean())) {
      repairs.push_back({std::move(inner), fmt::format("write {} without quotes", text), Applicability::kSafe});
    }
  }
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) < 0x1p53) {
      const auto whole = static_cast<std::int64_t>(number);
      repairs.push_back({whole, fmt::format("write {}", whole), Applicability::kSafe});
    }
  }
  const bool truth = value == 1;
  if (truth || value == 0) {
    repairs.push_back({truth, fmt::format("write {}", truth), Applicability::kMaybe});
  }
  if (value.is_number()) {
    repairs.push_back({dump(value), fmt::format("write \"{}\" with quotes", dump(value)), Applicability::kMaybe});
  }
  if (value.is_array() && value.size() == 1) {
    repairs.push_back({value[0], "write the element alone, without brackets", Applicability::kMaybe});
  }
  if (!value.is_array()) {
    repairs.push_back({Json::array({value}), "write it between [ and ]", Applicability::kMaybe});
  }
  return repairs;
}

/// A component written as its name alone.
std::vector<Repair> component_repairs(const Json& value) {
  if (!value.is_string()) return {};
  Json whole{{"use", value}};
  const std::string label = fmt::format("write {{ \"use\": {} }}", dump(value));
  return {{std::move(whole), label, Applicability::kMaybe}};
}

const Json* alternatives_of(const Json& schema) {
  const Json* any = find_member(schema, "anyOf");
  return any != nullptr ? any : find_member(schema, "oneOf");
}

/// A schema's alternatives with theirs in turn; the schema itself where it has none.
void collect_forms(const Json& unresolved, const Json& root, std::vector<const Json*>& forms, int depth = 0) {
  const Json& schema = follow_reference(unresolved, root);
  const Json* alternatives = alternatives_of(schema);
  if (alternatives == nullptr || depth > 8) {
    forms.push_back(&schema);
    return;
  }
  for (const Json& alternative : *alternatives) collect_forms(alternative, root, forms, depth + 1);
}

/// What the forms of a schema accept as text.
struct TextForms {
  std::vector<std::string> words;  // const and enum
  std::vector<UnitKind> units;
};

TextForms text_forms(const std::vector<const Json*>& forms) {
  TextForms texts;
  const auto add_word = [&](const Json& word) {
    if (word.is_string()) texts.words.push_back(word.get<std::string>());
  };
  for (const Json* form : forms) {
    if (const Json* constant = find_member(*form, "const")) add_word(*constant);
    if (const Json* values = find_member(*form, "enum")) std::for_each(values->begin(), values->end(), add_word);
    const Json* unit = find_member(*form, "x-unit");
    if (unit == nullptr || !unit->is_string()) continue;
    const auto kind = unit_kind(unit->get_ref<const std::string&>());
    if (kind && std::find(texts.units.begin(), texts.units.end(), *kind) == texts.units.end())
      texts.units.push_back(*kind);
  }
  return texts;
}

bool is_about_type(const Violation& violation, const std::string& pointer) {
  return violation.pointer == pointer && violation.at == Violation::At::kValue && violation.code != "out-of-range" &&
         violation.code != "bad-length" && violation.code != "bad-format";
}

}  // namespace

std::vector<Violation> Validator::best_alternative(const Json& value, const Json& schema, const std::string& pointer) {
  if (quiet_) return {{.code = "wrong-type", .pointer = pointer}};
  std::vector<const Json*> forms;
  collect_forms(schema, root_, forms);
  const bool is_secret = std::any_of(forms.begin(), forms.end(),
                                     [](const Json* form) { return find_member(*form, "x-secret") != nullptr; });
  if (is_secret) return {bad_secret(schema, pointer)};
  if (value.is_primitive() && holds_secret(schema, root_)) return {wrong_type(value, schema, pointer)};

  if (value.is_string()) {
    const TextForms texts = text_forms(forms);
    const auto& text = value.get_ref<const std::string&>();
    if (nearest(text, texts.words)) return {unknown_value(value, schema, texts.words, pointer)};
    if (!texts.units.empty()) {
      const auto result = parse_quantity(text, texts.units);
      if (const auto* error = std::get_if<QuantityError>(&result)) {
        Violation violation{.code = "bad-unit", .pointer = pointer, .text = fmt::format(": {}", error->message)};
        violation.label = error->fix;
        if (error->replacement) violation.replacement = dump(*error->replacement);
        return {std::move(violation)};
      }
    }
  }

  // The form of the value's own type with the fewest violations is the one that was meant.
  std::vector<Violation> best;
  for (const Json* form : forms) {
    std::vector<Violation> found = check(value, *form, pointer);
    const bool other_type =
        std::any_of(found.begin(), found.end(), [&](const Violation& v) { return is_about_type(v, pointer); });
    if (!other_type && (best.empty() || found.size() < best.size())) best = std::move(found);
  }
  if (!best.empty()) return best;

  const TextForms texts = text_forms(forms);
  const bool only_words = value.is_string() && std::all_of(forms.begin(), forms.end(), [](const Json* form) {
                            return find_member(*form, "const") != nullptr || find_member(*form, "enum") != nullptr;
                          });
  return {only_words ? unknown_value(value, schema, texts.words, pointer) : wrong_type(value, schema, pointer)};
}

Violation Validator::bad_secret(const Json& schema, const std::string& pointer) const {
  if (quiet_) return {.code = "bad-secret", .pointer = pointer};
  return {.code = "bad-secret",
          .pointer = pointer,
          .text = fmt::format("is a secret and must be {}", describe_wanted(schema, root_)),
          .label = "name the environment variable that holds it",
          .notes = {"a secret stands in no file: it is read from the environment where it is used"},
          .hidden = true};
}

Violation Validator::wrong_type(const Json& value, const Json& schema, const std::string& pointer) {
  if (quiet_) return {.code = "wrong-type", .pointer = pointer};
  if (holds_secret(schema, root_)) {
    return {.code = "wrong-type",
            .pointer = pointer,
            .text = fmt::format("must be {}", describe_wanted(schema, root_)),
            .hidden = true};
  }
  Violation violation{.code = "wrong-type",
                      .pointer = pointer,
                      .text = fmt::format("must be {}, not {}", describe_wanted(schema, root_), describe_value(value))};
  std::vector<const Json*> forms;
  collect_forms(schema, root_, forms);
  const std::vector<UnitKind> units = text_forms(forms).units;
  if (value.is_number() && !units.empty()) {
    violation.code = "bad-unit";
    violation.text = "needs a unit,";
    for (const UnitKind unit : units) {
      const bool first = violation.label.empty();
      violation.text += fmt::format(" {} {}", first ? "such as" : "or", unit_example(unit));
      violation.label += fmt::format("{} {}", first ? "write" : " or", with_units(dump(value), unit));
    }
    // Which of several was meant is for a person to say.
    const bool one_reading = units.size() == 1 && units.front() != UnitKind::kSpan;
    if (one_reading) violation.replacement = with_units(dump(value), units.front());
    return violation;
  }
  const bool is_component = std::any_of(forms.begin(), forms.end(),
                                        [](const Json* form) { return find_member(*form, "x-component") != nullptr; });
  for (const Repair& repair : is_component ? component_repairs(value) : repairs_of(value)) {
    if (!holds(repair.value, schema)) continue;
    violation.label = repair.label;
    violation.replacement = dump(repair.value);
    violation.applicability = repair.applicability;
    break;
  }
  return violation;
}

Violation Validator::unknown_value(const Json& value, const Json& schema, const std::vector<std::string>& names,
                                   const std::string& pointer) const {
  if (quiet_) return {.code = "unknown-value", .pointer = pointer};
  Violation violation{.code = "unknown-value",
                      .pointer = pointer,
                      .text = fmt::format("must be {}, not {}", describe_wanted(schema, root_), describe_value(value))};
  if (!value.is_string()) return violation;
  const auto& text = value.get_ref<const std::string&>();
  if (const std::optional<std::string> meant = nearest(text, names)) {
    violation.label = fmt::format("did you mean {}?", core::quoted(*meant));
    violation.replacement = dump(*meant);
    violation.applicability = is_slip(text, *meant) ? Applicability::kSafe : Applicability::kMaybe;
  }
  return violation;
}

Violation Validator::unknown_key(const std::string& name, const Json& schema, const std::string& pointer) const {
  if (quiet_) return {.code = "unknown-key", .pointer = child_pointer(pointer, name), .at = Violation::At::kKey};
  Violation violation{.code = "unknown-key",
                      .pointer = child_pointer(pointer, name),
                      .at = Violation::At::kKey,
                      .text = fmt::format("has no {} {}", noun_, core::quoted(name))};
  std::vector<std::string> names;
  if (const Json* properties = find_member(schema, "properties")) {
    for (const auto& [property, unused] : properties->items()) names.push_back(property);
  }
  if (const std::optional<std::string> meant = nearest(name, names)) {
    violation.label = fmt::format("did you mean {}?", core::quoted(*meant));
    violation.replacement = *meant;
    violation.applicability = is_slip(name, *meant) ? Applicability::kSafe : Applicability::kMaybe;
    violation.hidden = holds_secret(*find_member(*find_member(schema, "properties"), *meant), root_);
  }
  const std::string known = describe_properties(schema, root_);
  violation.notes = {known.empty() ? fmt::format("it has no {}s", noun_) : fmt::format("{}s: {}", noun_, known)};
  return violation;
}

}  // namespace tenon::core
