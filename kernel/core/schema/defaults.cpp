// Defaults from a schema.
#include <core/schema/defaults.hpp>

#include <algorithm>

#include <core/json/pointer.hpp>
#include <core/schema/describe.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

class Filler {
 public:
  explicit Filler(const Json& root) : root_(root) {}

  void fill(Json& value, const Json& unresolved, const std::string& pointer) {
    if (++depth_ > kDeepest) throw Error(ErrorCode::kPlugin, "the schema's defaults contain themselves");
    const Json& schema = alternative_for(value, follow_reference(unresolved, root_));
    if (value.is_object()) fill_object(value, schema, pointer);
    const Json* items = find_member(schema, "items");
    if (value.is_array() && items != nullptr) {
      for (std::size_t i = 0; i < value.size(); ++i) fill(value[i], *items, child_pointer(pointer, i));
    }
    --depth_;
  }

  std::vector<std::string> take() { return std::move(added_); }

 private:
  void fill_object(Json& value, const Json& schema, const std::string& pointer) {
    const Json* properties = find_member(schema, "properties");
    const Json* additional = find_member(schema, "additionalProperties");
    if (properties != nullptr) {
      for (const auto& [name, property] : properties->items()) {
        const Json& followed = follow_reference(property, root_);
        const Json* fallback = find_member(property, "default");
        if (fallback == nullptr) fallback = find_member(followed, "default");
        if (fallback == nullptr || find_member(value, name) != nullptr) continue;
        append_member(value, name, *fallback);
        note(*fallback, child_pointer(pointer, name));
      }
    }
    for (auto& [name, member] : value.get_ref<Json::object_t&>()) {
      const Json* property = properties != nullptr ? find_member(*properties, name) : nullptr;
      if (property == nullptr) property = additional;
      if (property != nullptr) fill(member, *property, child_pointer(pointer, name));
    }
  }

  /// Every value within a default is a default too.
  void note(const Json& value, const std::string& pointer) {
    added_.push_back(pointer);
    if (value.is_object()) {
      for (const auto& [name, member] : value.items()) note(member, child_pointer(pointer, name));
    } else if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) note(value[i], child_pointer(pointer, i));
    }
  }

  [[nodiscard]] const Json& alternative_for(const Json& value, const Json& schema) const {
    for (const char* keyword : {"anyOf", "oneOf"}) {
      const Json* alternatives = find_member(schema, keyword);
      if (alternatives == nullptr || !alternatives->is_array()) continue;
      for (const Json& unresolved : *alternatives) {
        const Json& alternative = follow_reference(unresolved, root_);
        if (fits(value, alternative)) return alternative;
      }
    }
    return schema;
  }

  static bool fits(const Json& value, const Json& schema) {
    const Json* type = find_member(schema, "type");
    if (type == nullptr) return false;
    if (value.is_array()) return *type == "array";
    if (!value.is_object() || *type != "object") return false;
    const Json* properties = find_member(schema, "properties");
    const Json* additional = find_member(schema, "additionalProperties");
    if (additional == nullptr || *additional != false) return true;
    const auto items = value.items();
    return std::all_of(items.begin(), items.end(), [&](const auto& item) {
      return properties != nullptr && find_member(*properties, item.key()) != nullptr;
    });
  }

  static constexpr int kDeepest = 1000;

  const Json& root_;
  int depth_ = 0;
  std::vector<std::string> added_;
};

}  // namespace

std::vector<std::string> fill_defaults(Json& value, const Json& schema, std::string_view base) {
  Filler filler(schema);
  filler.fill(value, schema, std::string(base));
  return filler.take();
}

}  // namespace tenon::core
