// Parameter structs: their schema, and filling them from JSON.
#include <tenon/params.hpp>

#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include <tenon/error.hpp>

namespace tenon {
namespace {

using Json = nlohmann::json;  // sorts its keys: canonical text
using detail::EnumSlot;
using detail::FieldInfo;
using detail::ListSlot;
using detail::MapSlot;
using detail::Slot;
using detail::StructSlot;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

[[noreturn]] void fail(const std::string& pointer, const std::string& message) {
  throw Error(ErrorCode::kConfig, message, pointer);
}

Json value_of(const Slot& slot);
Json schema_of_slot(const Slot& slot);

// ---- values ---------------------------------------------------------------------------------------------------------

/// A default that is none is for the plugin's author to mend.
void check_default(const FieldInfo& field, const Slot& slot) {
  const auto* const secret = std::get_if<Secret*>(&slot.target);
  const auto* const nested = std::get_if<Nested*>(&slot.target);
  const bool lacks =
      (secret != nullptr && (*secret)->variable().empty()) || (nested != nullptr && (*nested)->use.empty());
  if (!lacks) return;
  throw Error(ErrorCode::kPlugin, "the parameter \"" + field.name + "\" needs a default " +
                                      (nested != nullptr ? "component" : "variable") + ", or required()");
}

Json value_of_field(const FieldInfo& field, void* object) {
  if (!field.word.empty() && field.is_empty(object)) return field.word;
  const Slot slot = field.slot(object);
  check_default(field, slot);
  return value_of(slot);
}

Json value_of(const Slot& slot) {
  return std::visit(
      Overloaded{
          [](const bool* value) { return Json(*value); }, [](const int64_t* value) { return Json(*value); },
          [](const double* value) { return Json(*value); }, [](std::string* value) { return Json(*value); },
          [](std::filesystem::path* value) { return Json(value->string()); },
          [](Span* value) { return Json(to_string(*value)); }, [](Time* value) { return Json(to_string(*value)); },
          [](Bytes* value) { return Json(to_string(*value)); },
          [](Secret* value) {
            return Json{{"env", value->variable()}};
          },
          [](Nested* value) {
            return Json{{"use", value->use}, {"with", Json::parse(value->with)}};
          },
          [](const EnumSlot& value) { return Json(value.names->names.at(static_cast<std::size_t>(value.get()))); },
          [](const StructSlot& value) {
            Json object = Json::object();
            for (const FieldInfo& field : value.fields->infos()) {
              if (!field.required) object[field.name] = value_of_field(field, value.object);
            }
            return object;
          },
          [](const ListSlot& value) {
            Json list = Json::array();
            for (const Slot& element : value.elements(value.list)) list.push_back(value_of(element));
            return list;
          },
          [](const MapSlot& value) {
            Json map = Json::object();
            for (const auto& [name, element] : value.entries(value.map)) map[name] = value_of(element);
            return map;
          }},
      slot.target);
}

// ---- schemas --------------------------------------------------------------------------------------------------------

Json number_bound(double bound) {
  if (bound == std::floor(bound) && std::abs(bound) < 0x1p53) return static_cast<int64_t>(bound);
  return bound;
}

void add_bounds(const FieldInfo& field, Json& schema) {
  if (schema.contains("items")) return add_bounds(field, schema["items"]);
  if (schema["type"] != "number" && schema["type"] != "integer") return;
  if (field.minimum) schema["minimum"] = number_bound(*field.minimum);
  if (field.maximum) schema["maximum"] = number_bound(*field.maximum);
  if (field.above) schema["exclusiveMinimum"] = number_bound(*field.above);
  if (field.below) schema["exclusiveMaximum"] = number_bound(*field.below);
}

/// Marks each place of a component with its kind.
void add_component(const FieldInfo& field, Json& schema) {
  if (schema.contains("items")) return add_component(field, schema["items"]);
  if (schema["type"] == "object" && schema["additionalProperties"].is_object()) {
    return add_component(field, schema["additionalProperties"]);
  }
  const bool nested = schema.contains("x-component");
  if (nested == field.component.empty()) {
    throw Error(ErrorCode::kPlugin, "the parameter \"" + field.name + "\" " +
                                        (nested ? "is a component: say of which kind, as in .component(\"transform\")"
                                                : "is no Nested and so has no kind of component"));
  }
  if (!nested) return;
  schema["x-component"] = field.component;
  schema["properties"]["use"]["description"] = "Which " + field.component + ", as in \"" + field.component + ":name\"";
}

Json schema_of_field(const FieldInfo& field, void* defaults) {
  const Json fallback = field.required ? Json() : value_of_field(field, defaults);
  Json schema = schema_of_slot(field.slot(defaults));
  add_bounds(field, schema);
  add_component(field, schema);
  if (field.min_items) schema["minItems"] = *field.min_items;
  if (!field.reference.empty()) schema["x-reference"] = field.reference;
  if (!field.word.empty()) schema = Json{{"anyOf", Json::array({Json{{"const", field.word}}, schema})}};
  schema["description"] = field.summary;
  if (field.schedulable) schema["x-schedulable"] = true;
  if (field.agree) schema["x-agree"] = true;
  if (!field.required) schema["default"] = fallback;
  return schema;
}

Json schema_of_struct(const Fields& fields) {
  const std::shared_ptr<void> defaults = fields.defaults();
  Json properties = Json::object();
  Json order = Json::array();
  Json required = Json::array();
  for (const FieldInfo& field : fields.infos()) {
    properties[field.name] = schema_of_field(field, defaults.get());
    order.push_back(field.name);
    if (field.required) required.push_back(field.name);
  }
  Json schema{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}, {"x-order", order}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

Json text_schema(const char* extra, const Json& value) { return Json{{"type", "string"}, {extra, value}}; }

Json secret_schema() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties",
           {{"env",
             {{"type", "string"},
              {"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"},
              {"description", "Environment variable that holds it"}}}}},
          {"required", Json::array({"env"})},
          {"x-order", Json::array({"env"})},
          {"x-secret", true}};
}

/// The kind of component is filled in by the field.
Json nested_schema() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties",
           {{"use", {{"type", "string"}}}, {"with", {{"type", "object"}, {"description", "Its parameters"}}}}},
          {"required", Json::array({"use"})},
          {"x-order", Json::array({"use", "with"})},
          {"x-component", ""}};
}

Json schema_of_slot(const Slot& slot) {
  return std::visit(Overloaded{[](bool*) {
                                 return Json{{"type", "boolean"}};
                               },
                               [](int64_t*) {
                                 return Json{{"type", "integer"}};
                               },
                               [](double*) {
                                 return Json{{"type", "number"}};
                               },
                               [](std::string*) {
                                 return Json{{"type", "string"}};
                               },
                               [](std::filesystem::path*) { return text_schema("x-path", true); },
                               [](Span*) { return text_schema("x-unit", "span"); },
                               [](Time*) { return text_schema("x-unit", "time"); },
                               [](Bytes*) { return text_schema("x-unit", "bytes"); },
                               [](Secret*) { return secret_schema(); }, [](Nested*) { return nested_schema(); },
                               [](const EnumSlot& value) { return text_schema("enum", value.names->names); },
                               [](const StructSlot& value) { return schema_of_struct(*value.fields); },
                               [](const ListSlot& value) {
                                 ListSlot scratch = value;
                                 Json items = schema_of_slot(scratch.append(scratch.list));
                                 return Json{{"type", "array"}, {"items", items}};
                               },
                               [](const MapSlot& value) {
                                 MapSlot scratch = value;
                                 Json values = schema_of_slot(scratch.insert(scratch.map, ""));
                                 return Json{{"type", "object"}, {"additionalProperties", values}};
                               }},
                    slot.target);
}

// ---- parsing --------------------------------------------------------------------------------------------------------

void read(const Json& json, const Slot& slot, const std::string& pointer);

std::string pointer_to(const std::string& base, const std::string& key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return base + "/" + escaped;
}

void check_bounds(const FieldInfo& field, const Json& json, const std::string& pointer) {
  if (json.is_array()) {
    if (field.min_items && static_cast<int64_t>(json.size()) < *field.min_items) {
      fail(pointer, "needs at least " + std::to_string(*field.min_items) + " element(s)");
    }
    for (std::size_t i = 0; i < json.size(); ++i) check_bounds(field, json[i], pointer + "/" + std::to_string(i));
    return;
  }
  if (!json.is_number()) return;
  const double value = json.get<double>();
  const auto refuse = [&](const char* relation, double bound) {
    fail(pointer, json.dump() + " must be " + relation + " " + number_bound(bound).dump());
  };
  if (field.minimum && !(value >= *field.minimum)) refuse("at least", *field.minimum);
  if (field.maximum && !(value <= *field.maximum)) refuse("at most", *field.maximum);
  if (field.above && !(value > *field.above)) refuse("above", *field.above);
  if (field.below && !(value < *field.below)) refuse("below", *field.below);
}

void read_field(const Json& json, const FieldInfo& field, void* object, const std::string& pointer) {
  if (!field.word.empty() && json == field.word) return field.set_empty(object);
  read(json, field.slot(object), pointer);
  check_bounds(field, json, pointer);
}

void read_struct(const Json& json, const StructSlot& slot, const std::string& pointer) {
  if (!json.is_object()) fail(pointer, "must be an object");
  std::set<std::string> known;
  for (const FieldInfo& field : slot.fields->infos()) {
    known.insert(field.name);
    const auto found = json.find(field.name);
    if (found != json.end()) {
      read_field(*found, field, slot.object, pointer_to(pointer, field.name));
    } else if (field.required) {
      fail(pointer, "needs \"" + field.name + "\": " + field.summary);
    }
  }
  for (const auto& [key, value] : json.items()) {
    if (!known.contains(key)) fail(pointer_to(pointer, key), "there is no parameter \"" + key + "\"");
  }
}

template <class T>
T quantity(const Json& json, const std::string& pointer, T (*parse)(std::string_view)) {
  if (!json.is_string()) fail(pointer, "must be text with a unit");
  try {
    return parse(json.get_ref<const std::string&>());
  } catch (const Error& error) {
    fail(pointer, error.what());
  }
}

void read_enum(const Json& json, const EnumSlot& slot, const std::string& pointer) {
  std::string known;
  for (std::size_t i = 0; i < slot.names->names.size(); ++i) {
    if (json == slot.names->names[i]) return slot.set(static_cast<int64_t>(i));
    known += (i == 0 ? "\"" : ", \"") + slot.names->names[i] + "\"";
  }
  fail(pointer, json.dump() + " must be one of " + known);
}

/// Whatever else is written there may be the secret itself, which no message repeats.
void read_secret(const Json& json, Secret& secret, const std::string& pointer) {
  if (!json.is_object() || json.size() != 1 || !json.contains("env") || !json["env"].is_string()) {
    fail(pointer, "must be { \"env\": \"NAME\" }, the name of the environment variable that holds the secret");
  }
  secret = Secret(json["env"].get<std::string>());
}

void read_nested(const Json& json, Nested& nested, const std::string& pointer) {
  if (!json.is_object()) fail(pointer, "must be a component, as in { \"use\": \"kind:name\" }");
  for (const auto& [key, value] : json.items()) {
    if (key != "use" && key != "with") fail(pointer_to(pointer, key), "a component has \"use\" and \"with\" alone");
  }
  const auto use = json.find("use");
  if (use == json.end() || !use->is_string()) fail(pointer, "needs \"use\", as in { \"use\": \"kind:name\" }");
  const auto with = json.find("with");
  if (with != json.end() && !with->is_object()) fail(pointer_to(pointer, "with"), "must be an object");
  nested.use = use->get<std::string>();
  nested.with = with == json.end() ? "{}" : with->dump();
}

void read(const Json& json, const Slot& slot, const std::string& pointer) {
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) fail(pointer, json.dump() + " must be " + what);
  };
  std::visit(Overloaded{[&](bool* value) {
                          expect(json.is_boolean(), "true or false");
                          *value = json.get<bool>();
                        },
                        [&](int64_t* value) {
                          expect(json.is_number_integer(), "an integer");
                          expect(!json.is_number_unsigned() || json.get<uint64_t>() <= uint64_t{INT64_MAX},
                                 "an integer of 64 bits");
                          *value = json.get<int64_t>();
                        },
                        [&](double* value) {
                          expect(json.is_number(), "a number");
                          *value = json.get<double>();
                          expect(std::isfinite(*value), "finite");
                        },
                        [&](std::string* value) {
                          expect(json.is_string(), "text");
                          *value = json.get<std::string>();
                        },
                        [&](std::filesystem::path* value) {
                          expect(json.is_string(), "a path");
                          *value = json.get<std::string>();
                        },
                        [&](Span* value) { *value = quantity(json, pointer, parse_span); },
                        [&](Time* value) { *value = quantity(json, pointer, parse_time); },
                        [&](Bytes* value) { *value = quantity(json, pointer, parse_bytes); },
                        [&](Secret* value) { read_secret(json, *value, pointer); },
                        [&](Nested* value) { read_nested(json, *value, pointer); },
                        [&](const EnumSlot& value) { read_enum(json, value, pointer); },
                        [&](const StructSlot& value) { read_struct(json, value, pointer); },
                        [&](const ListSlot& value) {
                          expect(json.is_array(), "a list");
                          value.clear(value.list);
                          for (std::size_t i = 0; i < json.size(); ++i) {
                            read(json[i], value.append(value.list), pointer + "/" + std::to_string(i));
                          }
                        },
                        [&](const MapSlot& value) {
                          expect(json.is_object(), "an object");
                          value.clear(value.map);
                          for (const auto& [key, element] : json.items()) {
                            read(element, value.insert(value.map, key), pointer_to(pointer, key));
                          }
                        }},
             slot.target);
}

}  // namespace

std::string schema_of(const Fields& fields) { return schema_of_struct(fields).dump(); }

void parse_params(std::string_view json, const Fields& fields, void* object) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) throw Error(ErrorCode::kConfig, "the parameters are not valid JSON");
  read_struct(parsed, StructSlot{object, &fields}, "");
}

}  // namespace tenon
