// Small, large and wrong values by schema.
#include <conformance/schema_values.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace tenon::conformance {
namespace {

/// Bounds of a number; exclusive ones a little further in.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

Bounds bounds_of(const Json& schema) {
  Bounds bounds;
  const double inside = schema.value("type", "") == "integer" ? 1 : 1e-3;
  if (schema.contains("minimum")) bounds.low = schema["minimum"];
  if (schema.contains("maximum")) bounds.high = schema["maximum"];
  if (schema.contains("exclusiveMinimum")) bounds.low = schema["exclusiveMinimum"].get<double>() + inside;
  if (schema.contains("exclusiveMaximum")) bounds.high = schema["exclusiveMaximum"].get<double>() - inside;
  return bounds;
}

Json number(const Json& schema, double value) {
  const Bounds bounds = bounds_of(schema);
  value = std::clamp(value, bounds.low, bounds.high);
  if (schema.value("type", "") == "integer") return static_cast<int64_t>(value);
  return value;
}

const Json* choices(const Json& schema) {
  for (const char* const key : {"anyOf", "oneOf"}) {
    if (schema.contains(key)) return &schema[key];
  }
  return nullptr;
}

std::vector<std::string> quantities(const std::string& unit) {
  if (unit == "span") return {"3 steps", "1 steps", "7 steps", "1 epochs", "2 epochs", "0 steps"};
  if (unit == "time") return {"1 s", "5 ms", "2 min"};
  return {"1 MiB", "1 kB", "3 B"};
}

Json inner_component(const Json& schema) {
  return {{"use", fmt::format("{}:conformance_inner", schema["x-component"].get<std::string>())},
          {"with", Json::object()}};
}

Json list_of(const Json& schema, const std::string& name, std::size_t count) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back(plain_value(schema["items"], i == 0 ? name : fmt::format("{}_{}", name, i + 1)));
  }
  return list;
}

void add(std::vector<Json>& values, Json value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
}

}  // namespace

bool says(const Json& schema, const char* annotation) {
  if (schema.contains(annotation)) return true;
  const Json* const all = choices(schema);
  if (all != nullptr &&
      std::any_of(all->begin(), all->end(), [&](const Json& each) { return says(each, annotation); })) {
    return true;
  }
  return schema.contains("items") && says(schema["items"], annotation);
}

Json plain_value(const Json& schema, const std::string& name) {
  if (schema.contains("default")) return schema["default"];
  if (schema.contains("const")) return schema["const"];
  if (schema.contains("enum")) return schema["enum"].front();
  if (schema.contains("x-component")) return inner_component(schema);
  if (schema.contains("x-secret")) return {{"env", "PATH"}};
  if (const Json* const all = choices(schema)) return plain_value(all->back(), name);
  const std::string type = schema.value("type", "");
  if (type == "integer") return number(schema, 4);
  if (type == "number") return number(schema, 0.5);
  if (type == "boolean") return false;
  if (type == "array") return list_of(schema, name, std::max<std::size_t>(1, schema.value("minItems", 1U)));
  if (type == "object") return plain_object(schema);
  if (schema.contains("x-unit")) return quantities(schema["x-unit"]).front();
  if (schema.value("x-reference", "") == "metric") return "validate.acc";
  return name;
}

Json plain_object(const Json& schema) {
  Json object = Json::object();
  if (!schema.contains("properties")) return object;
  for (const auto& [name, property] : schema["properties"].items()) object[name] = plain_value(property, name);
  return object;
}

std::vector<Json> alternatives(const Json& schema, const std::string& name, const std::vector<std::string>& words) {
  std::vector<Json> values;
  if (schema.contains("default")) add(values, schema["default"]);
  if (schema.contains("const")) return {schema["const"]};
  if (schema.contains("enum")) {
    for (const Json& each : schema["enum"]) add(values, each);
    return values;
  }
  if (schema.contains("x-component") || schema.contains("x-secret")) {
    add(values, plain_value(schema, name));
    return values;
  }
  if (const Json* const all = choices(schema)) {
    for (const Json& choice : *all) {
      for (Json& each : alternatives(choice, name, words)) add(values, std::move(each));
    }
    return values;
  }
  const std::string type = schema.value("type", "");
  if (type == "boolean") {
    add(values, true);
    add(values, false);
  } else if (type == "integer" || type == "number") {
    const std::vector<double> numbers = type == "integer" ? std::vector<double>{4, 2, 1, 3, 0, 5, 8, -1}
                                                          : std::vector<double>{0.5, 0.25, 0.9, 0.1, 2, 0, 1, 4, 1e-3};
    for (const double each : numbers) add(values, number(schema, each));
  } else if (type == "array") {
    const std::size_t least = schema.value("minItems", 0U);
    for (std::size_t count = least; count <= least + 3; ++count) add(values, list_of(schema, name, count));
    for (const Json& each : alternatives(schema["items"], name, words)) add(values, Json::array({each}));
    if (!words.empty() && schema["items"].value("type", "") == "string") {
      add(values, Json(std::vector<std::string>(words.begin(), words.begin() + (words.size() > 1 ? 2 : 1))));
    }
  } else if (type == "object") {
    add(values, plain_object(schema));
    if (schema.contains("properties")) {
      for (const auto& [member, property] : schema["properties"].items()) {
        for (Json& each : alternatives(property, member, words)) {
          Json changed = plain_object(schema);
          changed[member] = std::move(each);
          add(values, std::move(changed));
        }
      }
    } else if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object()) {
      for (const std::string& word : words) {
        for (Json& each : alternatives(schema["additionalProperties"], word, words)) {
          add(values, Json{{word, std::move(each)}});
        }
      }
    }
  } else if (schema.contains("x-unit")) {
    for (const std::string& each : quantities(schema["x-unit"])) add(values, each);
  } else {
    add(values, name);
    for (const std::string& word : words) add(values, word);
    add(values, name + "_2");
  }
  return values;
}

Json random_value(const Json& schema, const std::string& name, const std::vector<std::string>& words, Rng& random) {
  const std::string type = schema.value("type", "");
  const bool is_number = (type == "integer" || type == "number") && !schema.contains("enum");
  if (is_number && random.chance(0.6)) {
    const Bounds bounds = bounds_of(schema);
    const double low = std::max(bounds.low, std::min(bounds.high, 8.0) - 16);
    return number(schema, low + random.uniform() * (std::min(bounds.high, std::max(low, 0.0) + 16) - low));
  }
  if (type == "object" && schema.contains("properties") && !schema.contains("x-component")) {
    Json object = Json::object();
    for (const auto& [member, property] : schema["properties"].items()) {
      object[member] = random_value(property, member, words, random);
    }
    return object;
  }
  if (type == "array" && random.chance(0.6)) {
    Json list = Json::array();
    const int64_t least = schema.value("minItems", 0);
    for (int64_t left = random.integer(least, least + 4); left > 0; --left) {
      list.push_back(random_value(schema["items"], fmt::format("{}_{}", name, left), words, random));
    }
    return list;
  }
  const std::vector<Json> values = alternatives(schema, name, words);
  return values[static_cast<std::size_t>(random.integer(0, static_cast<int64_t>(values.size()) - 1))];
}

namespace {

/// Numbers beyond the bounds, with the bound in words.
std::vector<std::pair<Json, std::string>> beyond(const Json& schema) {
  std::vector<std::pair<Json, std::string>> values;
  const bool whole = schema.value("type", "") == "integer";
  const auto add_value = [&](double value, std::string what) {
    if (whole) {
      values.emplace_back(static_cast<int64_t>(value), std::move(what));
    } else {
      values.emplace_back(value, std::move(what));
    }
  };
  const auto text = [&](const char* key) { return schema[key].dump(); };
  if (schema.contains("minimum"))
    add_value(schema["minimum"].get<double>() - 1, "below its minimum " + text("minimum"));
  if (schema.contains("maximum"))
    add_value(schema["maximum"].get<double>() + 1, "above its maximum " + text("maximum"));
  if (schema.contains("exclusiveMinimum")) {
    add_value(schema["exclusiveMinimum"], "not above " + text("exclusiveMinimum"));
  }
  if (schema.contains("exclusiveMaximum")) {
    add_value(schema["exclusiveMaximum"], "not below " + text("exclusiveMaximum"));
  }
  return values;
}

void put(Json& params, const std::string& pointer, Json value) {
  params[Json::json_pointer(pointer)] = std::move(value);
}

void visit_bounds(const Json& schema, const Json& base, const std::string& pointer, std::vector<Breach>& breaches) {
  if (schema.contains("x-component") || schema.contains("x-secret")) return;
  for (auto& [value, what] : beyond(schema)) {
    Breach breach{base, pointer, fmt::format("{} for \"{}\", {}", value.dump(), pointer, what)};
    put(breach.params, pointer, value);
    breaches.push_back(std::move(breach));
  }
  if (schema.contains("enum")) {
    Breach breach{base, pointer, fmt::format("\"no_such_word\" for \"{}\", which is none of its words", pointer)};
    put(breach.params, pointer, "no_such_word");
    breaches.push_back(std::move(breach));
  }
  if (schema.value("minItems", 0) > 0) {
    Breach breach{base, pointer,
                  fmt::format("an empty list for \"{}\", which needs {}", pointer, schema["minItems"].dump())};
    put(breach.params, pointer, Json::array());
    breaches.push_back(std::move(breach));
  }
  const Json& value = base[Json::json_pointer(pointer)];
  if (value.is_array() && !value.empty() && schema.contains("items")) {
    visit_bounds(schema["items"], base, pointer + "/0", breaches);
  }
  if (value.is_object() && schema.contains("properties")) {
    for (const auto& [name, property] : schema["properties"].items()) {
      if (value.contains(name)) visit_bounds(property, base, fmt::format("{}/{}", pointer, name), breaches);
    }
  }
}

}  // namespace

std::vector<Breach> breaches_of_bounds(const Json& schema, const Json& base) {
  std::vector<Breach> breaches;
  visit_bounds(schema, base, "", breaches);
  return breaches;
}

std::vector<Breach> breaches_of_type(const Json& schema, const Json& base) {
  std::vector<Breach> breaches;
  if (!schema.contains("properties")) return breaches;
  for (const auto& [name, property] : schema["properties"].items()) {
    const std::string type = property.value("type", "");
    const bool has_words = property.contains("enum");
    for (const Json& wrong : {Json(), Json(true), Json(1.5), Json("text"), Json::array(), Json::object()}) {
      const bool right = type.empty() || (wrong.is_boolean() && type == "boolean") ||
                         (wrong.is_number() && type == "number") || (wrong.is_array() && type == "array") ||
                         (wrong.is_string() && type == "string" && !property.contains("x-unit")) ||
                         (wrong.is_object() && type == "object") || (wrong.is_string() && has_words);
      if (right) continue;
      Breach breach{base, "/" + name, fmt::format("{} for \"/{}\", which takes {}", wrong.dump(), name, type)};
      breach.params[name] = wrong;
      breaches.push_back(std::move(breach));
    }
  }
  return breaches;
}

}  // namespace tenon::conformance
