// Values of parameters, made from their JSON Schema.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tenon/random.hpp>

namespace tenon::conformance {

using Json = nlohmann::ordered_json;

/// The value that a pipeline would most plainly give: the default, or else a small one within the bounds. `name` is the
/// property's; texts without a meaning take it.
[[nodiscard]] Json plain_value(const Json& schema, const std::string& name);

/// An object with all properties: defaults, and plain values for those that have none.
[[nodiscard]] Json plain_object(const Json& schema);

/// Values of every sort that the schema allows: all words, bounds, small numbers, lists of several lengths. `words` are
/// texts that may mean something, such as names of fields.
[[nodiscard]] std::vector<Json> alternatives(const Json& schema, const std::string& name,
                                             const std::vector<std::string>& words);

/// A drawn value that the schema allows.
[[nodiscard]] Json random_value(const Json& schema, const std::string& name, const std::vector<std::string>& words,
                                Rng& random);

/// A value that breaks one bound, with the pointer that an error must name.
struct Breach {
  Json params;
  std::string pointer;
  std::string what;  ///< "0 for \"size\", below its minimum 1"
};

/// `base` with one parameter beyond each of its bounds in turn.
[[nodiscard]] std::vector<Breach> breaches_of_bounds(const Json& schema, const Json& base);

/// `base` with one parameter of a wrong JSON type in turn.
[[nodiscard]] std::vector<Breach> breaches_of_type(const Json& schema, const Json& base);

/// True where the schema or one of its alternatives says so: "x-path", "x-component", "x-secret", "x-reference".
[[nodiscard]] bool says(const Json& schema, const char* annotation);

}  // namespace tenon::conformance
