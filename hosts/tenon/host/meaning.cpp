// Walks pipeline and schema side by side.
#include <host/meaning.hpp>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/checker.hpp>
#include <core/schema/describe.hpp>
#include <core/schema/embedded.hpp>

namespace tenon::host {
namespace {

using core::find_member;
using core::Json;

/// The schema of an object's member or an array's element, or null.
const Json* step(const Json& unresolved, const Json& root, const std::string& key) {
  const Json& schema = core::follow_reference(unresolved, root);
  if (const Json* const properties = find_member(schema, "properties")) {
    if (const Json* const property = find_member(*properties, key)) return property;
  }
  const char* const rest = core::array_index(key) ? "items" : "additionalProperties";
  if (const Json* const each = find_member(schema, rest); each != nullptr && each->is_object()) return each;
  for (const char* const word : {"anyOf", "oneOf", "allOf"}) {
    const Json* const alternatives = find_member(schema, word);
    if (alternatives == nullptr) continue;
    for (const Json& alternative : *alternatives) {
      if (const Json* const found = step(alternative, root, key)) return found;
    }
  }
  return nullptr;
}

const Json& pipeline_schema() {
  static const Json schema = Json::parse(core::embedded_schema("pipeline-1"), nullptr, false);
  return schema;
}

std::string_view text_of(const Json& schema, std::string_view key) {
  const Json* const value = find_member(schema, key);
  if (value == nullptr || !value->is_string()) return {};
  return value->get_ref<const std::string&>();
}

}  // namespace

Meaning meaning_of(const Json& property, const Json& root) {
  const Json& target = core::follow_reference(property, root);
  Meaning meaning;
  meaning.type = core::describe_type(property, root);
  meaning.description = text_of(property, "description");
  if (meaning.description.empty()) meaning.description = text_of(target, "description");
  if (meaning.description.ends_with('.')) meaning.description.pop_back();
  const Json* const schedulable = find_member(property, "x-schedulable");
  meaning.schedulable = schedulable != nullptr && *schedulable == Json(true);
  return meaning;
}

std::optional<Meaning> meaning(const Json& pipeline, const core::Catalogue& catalogue, std::string_view pointer) {
  const Json* value = &pipeline;
  const Json* root = &pipeline_schema();
  const Json* schema = root;
  const core::ComponentInfo* nearest_component = nullptr;
  std::string owner;
  for (const std::string& key : core::split_pointer(pointer)) {
    if (value != nullptr) {
      if (const core::ComponentInfo* const used = catalogue.find(text_of(*value, "use"))) nearest_component = used;
    }
    if (key == "with" && nearest_component != nullptr) {
      root = schema = &nearest_component->parameters;
      owner = nearest_component->id();
    } else if (schema != nullptr) {
      schema = step(*schema, *root, key);
    }
    const std::optional<std::size_t> index = core::array_index(key);
    if (value != nullptr && value->is_array()) {
      value = index && *index < value->size() ? &(*value)[*index] : nullptr;
    } else if (value != nullptr) {
      value = find_member(*value, key);
    }
  }
  if (schema == nullptr || schema == root || !schema->is_object()) return std::nullopt;
  Meaning found = meaning_of(*schema, *root);
  found.owner = std::move(owner);
  return found;
}

std::string to_string(const Meaning& meaning) {
  const std::string type = meaning.type + (meaning.schedulable ? ", can be scheduled" : "");
  return meaning.description.empty() ? type : fmt::format("{} ({})", meaning.description, type);
}

}  // namespace tenon::host
