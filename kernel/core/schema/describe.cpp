// Words for schemas and values.
#include <core/schema/describe.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>
#include <core/units.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kMostNamed = 8;  // Values of an enum that are named before "…".

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string_view text_of(const Json& schema, std::string_view key) {
  const Json* value = find_member(schema, key);
  if (value == nullptr || !value->is_string()) return {};
  return value->get_ref<const std::string&>();
}

/// The bounds of a number, as what follows "number" or "a number".
struct Bounds {
  std::string text;
  bool closed = false;  ///< Both ends are named and belong to it.
};

Bounds bounds_of(const Json& schema, std::string_view closed_form) {
  const Json* least = find_member(schema, "minimum");
  const Json* most = find_member(schema, "maximum");
  const Json* above = find_member(schema, "exclusiveMinimum");
  const Json* below = find_member(schema, "exclusiveMaximum");
  if (least != nullptr && most != nullptr && above == nullptr && below == nullptr) {
    return {fmt::format(fmt::runtime(closed_form), dump(*least), dump(*most)), true};
  }
  std::vector<std::string> parts;
  if (least != nullptr) parts.push_back(">= " + dump(*least));
  if (above != nullptr) parts.push_back("> " + dump(*above));
  if (most != nullptr) parts.push_back("<= " + dump(*most));
  if (below != nullptr) parts.push_back("< " + dump(*below));
  return {fmt::format("{}", fmt::join(parts, " and ")), false};
}

std::vector<std::string> enum_texts(const Json& values) {
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(dump(value));
  if (texts.size() > kMostNamed) {
    texts.resize(kMostNamed);
    texts.emplace_back("…");
  }
  return texts;
}

const Json* alternatives_of(const Json& schema) {
  const Json* any = find_member(schema, "anyOf");
  if (any == nullptr) any = find_member(schema, "oneOf");
  return any != nullptr && any->is_array() ? any : nullptr;
}

void add_unique(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

std::string short_name(std::string_view type) {
  if (type == "boolean") return "bool";
  if (type == "array") return "list";
  return std::string(type.empty() ? "any value" : type);
}

std::string with_article(std::string_view noun) {
  const bool vowel = !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

std::string string_type(const Json& schema) {
  if (const std::optional<UnitKind> kind = unit_kind(text_of(schema, "x-unit"))) {
    return fmt::format("{} such as {}", unit_word(*kind), unit_example(*kind));
  }
  return find_member(schema, "x-path") != nullptr ? "path" : "string";
}

}  // namespace

const Json& follow_reference(const Json& schema, const Json& root) {
  const Json* followed = &schema;
  for (int hops = 0; hops < 32; ++hops) {
    const Json* reference = find_member(*followed, "$ref");
    if (reference == nullptr || !reference->is_string()) return *followed;
    const std::string_view target = reference->get_ref<const std::string&>();
    const bool local = !target.empty() && target.front() == '#' && (target.size() == 1 || target[1] == '/');
    followed = local ? find_value(root, target.substr(1)) : nullptr;
    if (followed == nullptr) {
      throw Error(ErrorCode::kPlugin,
                  fmt::format("the schema refers to {}, which it does not hold", core::quoted(target)));
    }
  }
  throw Error(ErrorCode::kPlugin, "the schema's references lead in a circle");
}

std::string describe_type(const Json& unresolved, const Json& root) {
  const Json& schema = follow_reference(unresolved, root);
  if (find_member(schema, "x-secret") != nullptr) return "secret";
  if (const std::string_view kind = text_of(schema, "x-component"); !kind.empty()) return std::string(kind);
  if (const Json* value = find_member(schema, "const")) return dump(*value);
  if (const Json* values = find_member(schema, "enum")) return fmt::format("{}", fmt::join(enum_texts(*values), " | "));
  if (const Json* any = alternatives_of(schema)) {
    std::vector<std::string> texts;
    for (const Json& alternative : *any) add_unique(texts, describe_type(alternative, root));
    return fmt::format("{}", fmt::join(texts, " | "));
  }
  const std::string_view type = text_of(schema, "type");
  if (type == "number" || type == "integer") {
    const Bounds bounds = bounds_of(schema, "{}..{}");
    if (bounds.text.empty()) return std::string(type);
    return bounds.closed && type == "number" ? bounds.text : fmt::format("{} {}", type, bounds.text);
  }
  if (type == "string") return string_type(schema);
  if (const Json* items = find_member(schema, "items"); type == "array" && items != nullptr && items->is_object()) {
    return "list of " + describe_type(*items, root);
  }
  return short_name(type);
}

std::string describe_wanted(const Json& unresolved, const Json& root) {
  const Json& schema = follow_reference(unresolved, root);
  if (find_member(schema, "x-secret") != nullptr) return R"({ "env": "NAME" })";
  if (const std::string_view kind = text_of(schema, "x-component"); !kind.empty()) {
    return fmt::format(R"({} such as {{ "use": "{}:name" }})", with_article(kind), kind);
  }
  if (const Json* value = find_member(schema, "const")) return dump(*value);
  if (const Json* values = find_member(schema, "enum")) {
    return fmt::format("{}{}", values->size() == 1 ? "" : "one of ", fmt::join(enum_texts(*values), ", "));
  }
  if (const Json* any = alternatives_of(schema)) {
    std::vector<std::string> texts;
    for (const Json& alternative : *any) add_unique(texts, describe_wanted(alternative, root));
    std::string out;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i > 0) out += i + 1 == texts.size() ? " or " : ", ";
      out += texts[i];
    }
    return out;
  }
  const std::string_view type = text_of(schema, "type");
  if (type == "boolean") return "true or false";
  if (type == "number" || type == "integer") {
    const Bounds bounds = bounds_of(schema, "from {} to {}");
    return bounds.text.empty() ? with_article(type) : fmt::format("{} {}", with_article(type), bounds.text);
  }
  if (type.empty()) return "another value";
  return with_article(describe_type(schema, root));
}

std::string describe_value(const Json& value) {
  if (value.is_string()) return "the string " + core::quoted(value.get_ref<const std::string&>(), 30);
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return dump(value);
}

std::string describe_properties(const Json& schema, const Json& root) {
  const Json* properties = find_member(schema, "properties");
  if (properties == nullptr || !properties->is_object()) return {};
  std::vector<std::string> texts;
  const auto add = [&](const std::string& name, const Json& property) {
    const std::string type = describe_type(property, root);
    add_unique(texts, type == "object" ? name : fmt::format("{} ({})", name, type));
  };
  if (const Json* order = find_member(schema, "x-order"); order != nullptr && order->is_array()) {
    for (const Json& name : *order) {
      const Json* property = name.is_string() ? find_member(*properties, name.get_ref<const std::string&>()) : nullptr;
      if (property != nullptr) add(name.get<std::string>(), *property);
    }
  }
  for (const auto& [name, property] : properties->items()) add(name, property);
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace tenon::core
