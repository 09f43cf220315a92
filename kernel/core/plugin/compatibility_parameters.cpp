// Compares two schemas of parameters: a change is breaking where the new one refuses what the old one takes.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/plugin/compatibility.hpp>
#include <core/schema/describe.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

/// A schema within the one in which its references are looked up.
struct Place {
  const Json& schema;
  const Json& root;

  Place(const Json& unresolved, const Json& all) : schema(follow_reference(unresolved, all)), root(all) {}

  [[nodiscard]] const Json* member(const char* key) const { return find_member(schema, key); }
  [[nodiscard]] std::string text() const { return describe_type(schema, root); }
};

bool equal(const Json* one, const Json* other) {
  return one == nullptr || other == nullptr ? one == other : *one == *other;
}

/// A bound of numbers or of a list's length, turned so that it is the least value.
struct Bound {
  double least = -std::numeric_limits<double>::infinity();
  bool strict = false;  ///< The bound itself is no value.
};

Bound bound_of(const Place& place, const char* inclusive, const char* exclusive, double sign) {
  Bound bound;
  if (const Json* const value = place.member(inclusive)) bound.least = sign * value->get<double>();
  const Json* const strict = exclusive == nullptr ? nullptr : place.member(exclusive);
  if (strict != nullptr && sign * strict->get<double>() >= bound.least) bound = {sign * strict->get<double>(), true};
  return bound;
}

/// `sign` is 1 for a least value, -1 for a greatest one.
bool bound_widens(const Place& old, const Place& now, const char* inclusive, const char* exclusive, double sign) {
  const Bound before = bound_of(old, inclusive, exclusive, sign);
  const Bound after = bound_of(now, inclusive, exclusive, sign);
  return after.least < before.least || (after.least == before.least && (before.strict || !after.strict));
}

bool widens(const Place& old, const Place& now);

bool type_widens(const Place& old, const Place& now) {
  const Json* const before = old.member("type");
  const Json* const after = now.member("type");
  if (after == nullptr || equal(before, after)) return true;
  return before != nullptr && *before == "integer" && *after == "number";
}

bool words_widen(const Place& old, const Place& now) {
  const Json* const after = now.member("enum");
  if (after == nullptr) return true;
  const Json* const before = old.member("enum");
  return before != nullptr && std::ranges::all_of(*before, [&](const Json& word) {
           return std::ranges::find(*after, word) != after->end();
         });
}

bool below_widens(const Place& old, const Place& now, const char* key) {
  const Json* const before = old.member(key);
  const Json* const after = now.member(key);
  if (after == nullptr || !after->is_object()) return true;
  return before != nullptr && before->is_object() && widens(Place(*before, old.root), Place(*after, now.root));
}

/// Whether every value that `old` takes is one that `now` takes, members of objects apart.
bool widens(const Place& old, const Place& now) {
  if (const Json* const alternatives = old.member("anyOf")) {
    return std::ranges::all_of(*alternatives, [&](const Json& each) { return widens(Place(each, old.root), now); });
  }
  if (const Json* const alternatives = now.member("anyOf")) {
    return std::ranges::any_of(*alternatives, [&](const Json& each) { return widens(old, Place(each, now.root)); });
  }
  for (const char* const key : {"x-unit", "x-component", "x-secret", "x-reference", "pattern", "const"}) {
    if (!equal(old.member(key), now.member(key))) return false;
  }
  return type_widens(old, now) && words_widen(old, now) && bound_widens(old, now, "minimum", "exclusiveMinimum", 1) &&
         bound_widens(old, now, "maximum", "exclusiveMaximum", -1) && bound_widens(old, now, "minItems", nullptr, 1) &&
         bound_widens(old, now, "maxItems", nullptr, -1) && below_widens(old, now, "items") &&
         below_widens(old, now, "additionalProperties");
}

bool is_required(const Json& schema, const std::string& name) {
  const Json* const required = find_member(schema, "required");
  return required != nullptr && std::ranges::find(*required, Json(name)) != required->end();
}

class Comparison {
 public:
  explicit Comparison(std::string component) : component_(std::move(component)) {}

  void objects(const Place& old, const Place& now, const std::string& prefix) {
    static const Json kNone = Json::object();
    const Json* const before = old.member("properties");
    const Json* const after = now.member("properties");
    const Json& properties = before == nullptr ? kNone : *before;
    const Json& others = after == nullptr ? kNone : *after;
    for (const auto& [name, property] : properties.items()) {
      const Json* const same = find_member(others, name);
      if (same == nullptr) {
        removed(prefix + name, others, properties);
      } else {
        defaults(old.schema, now.schema, name, property, *same, prefix);
        values(Place(property, old.root), Place(*same, now.root), prefix + name);
      }
    }
    for (const auto& [name, property] : others.items()) {
      if (properties.contains(name)) continue;
      const bool required = is_required(now.schema, name);
      add(required ? Effect::kBreaking : Effect::kCompatible, prefix + name,
          required ? "it is new and must be given" : "it is new, with a default");
    }
  }

  [[nodiscard]] std::vector<PluginChange> changes() && { return std::move(changes_); }

 private:
  void add(Effect effect, const std::string& parameter, std::string text) {
    changes_.push_back({effect, component_, "parameter " + parameter, std::move(text)});
  }

  void removed(const std::string& parameter, const Json& others, const Json& properties) {
    std::vector<std::string> fresh;
    for (const auto& [name, property] : others.items()) {
      if (!properties.contains(name)) fresh.push_back(name);
    }
    const std::optional<std::string> renamed = nearest(parameter.substr(parameter.rfind('.') + 1), fresh);
    add(Effect::kBreaking, parameter, renamed ? fmt::format("it is gone; {} is new", *renamed) : "it is gone");
  }

  void defaults(const Json& old, const Json& now, const std::string& name, const Json& before, const Json& after,
                const std::string& prefix) {
    const bool was = is_required(old, name);
    const bool is = is_required(now, name);
    if (!was && is) add(Effect::kBreaking, prefix + name, "it had a default and must be given now");
    if (was && !is) add(Effect::kCompatible, prefix + name, "it has a default now");
    const Json* const from = find_member(before, "default");
    const Json* const to = find_member(after, "default");
    if (!was && !is && !equal(from, to)) {
      const auto text = [](const Json* value) { return value == nullptr ? std::string("none") : value->dump(); };
      add(Effect::kResults, prefix + name, fmt::format("its default was {} and is {}", text(from), text(to)));
    }
    if (!equal(find_member(before, "description"), find_member(after, "description"))) {
      add(Effect::kCompatible, prefix + name, "it is described otherwise");
    }
    const bool scheduled = find_member(before, "x-schedulable") != nullptr;
    const bool schedulable = find_member(after, "x-schedulable") != nullptr;
    if (scheduled != schedulable) {
      add(scheduled ? Effect::kBreaking : Effect::kCompatible, prefix + name,
          scheduled ? "it can be scheduled no longer" : "it can be scheduled now");
    }
  }

  void values(const Place& old, const Place& now, const std::string& parameter) {
    if (!widens(old, now)) {
      add(Effect::kBreaking, parameter, fmt::format("it took {} and takes {}", old.text(), now.text()));
      return;
    }
    if (!widens(now, old)) {
      add(Effect::kCompatible, parameter, fmt::format("it took {} and takes more: {}", old.text(), now.text()));
    }
    below(old, now, parameter + '.', nullptr);
    below(old, now, parameter + "[].", "items");
    below(old, now, parameter + ".NAME.", "additionalProperties");
  }

  /// Members of a structure, of a list's elements, or of a map's.
  void below(const Place& old, const Place& now, const std::string& prefix, const char* key) {
    if (key == nullptr) {
      if (old.member("properties") != nullptr || now.member("properties") != nullptr) objects(old, now, prefix);
      return;
    }
    const Json* const before = old.member(key);
    const Json* const after = now.member(key);
    if (before == nullptr || after == nullptr || !before->is_object() || !after->is_object()) return;
    below(Place(*before, old.root), Place(*after, now.root), prefix, nullptr);
  }

  std::string component_;
  std::vector<PluginChange> changes_;
};

}  // namespace

std::vector<PluginChange> compare_parameters(const Json& old, const Json& now, const std::string& component) {
  Comparison comparison(component);
  comparison.objects(Place(old, old), Place(now, now), "");
  return std::move(comparison).changes();
}

}  // namespace tenon::core
