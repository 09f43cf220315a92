// Both values side by side.
#include <host/value_diff.hpp>

#include <cstddef>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/text/source.hpp>
#include <host/json_text.hpp>

namespace tenon::host {
namespace {

using core::Json;

constexpr std::size_t kMostCodePoints = 60;

class Comparer {
 public:
  void compare(const Json& before, const Json& after, const std::string& pointer) {
    if (before.is_object() && after.is_object()) {
      compare_members(before, after, pointer);
    } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
      for (std::size_t i = 0; i < before.size(); ++i) compare(before[i], after[i], core::child_pointer(pointer, i));
    } else if (before.type() != after.type() ? !same_number(before, after) : before != after) {
      found.push_back({pointer, &before, &after});
    }
  }

  std::vector<ValueChange> found;

 private:
  /// 1 and 1.0 are one value.
  static bool same_number(const Json& before, const Json& after) {
    return before.is_number() && after.is_number() && before == after;
  }

  void compare_members(const Json& before, const Json& after, const std::string& pointer) {
    std::unordered_map<std::string, const Json*> others;  // look-up in an object is linear
    for (const auto& [key, value] : after.items()) others.emplace(key, &value);
    for (const auto& [key, value] : before.items()) {
      const auto other = others.find(key);
      if (other == others.end()) {
        found.push_back({core::child_pointer(pointer, key), &value, nullptr});
      } else {
        compare(value, *other->second, core::child_pointer(pointer, key));
        others.erase(other);
      }
    }
    for (const auto& [key, value] : after.items()) {
      if (others.contains(key)) found.push_back({core::child_pointer(pointer, key), nullptr, &value});
    }
  }
};

std::string value_text(const Json& value) {
  const Json* const use = core::find_member(value, "use");
  std::string text = use != nullptr && use->is_string() ? use->get<std::string>() : spaced(value);
  if (core::count_code_points(text) <= kMostCodePoints) return text;
  const std::string_view all = text;
  std::size_t end = 0;
  for (std::size_t i = 1; i < kMostCodePoints; ++i) end += core::code_point_length(all.substr(end));
  return text.substr(0, end) + "…";
}

}  // namespace

std::vector<ValueChange> differences(const Json& before, const Json& after, std::string_view pointer) {
  Comparer comparer;
  comparer.compare(before, after, std::string(pointer));
  return std::move(comparer.found);
}

std::string to_string(const ValueChange& change) {
  if (change.before == nullptr) return fmt::format("added: {}", value_text(*change.after));
  if (change.after == nullptr) return fmt::format("removed: {}", value_text(*change.before));
  return fmt::format("{} -> {}", value_text(*change.before), value_text(*change.after));
}

Json change_json(const ValueChange& change) {
  const bool added = change.before == nullptr;
  const bool removed = change.after == nullptr;
  return {{"pointer", change.pointer}, {"what", added ? "added" : removed ? "removed" : "changed"}};
}

}  // namespace tenon::host
