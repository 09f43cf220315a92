// Schemas in words, for messages, help and reference pages.
#pragma once

#include <string>

#include <core/json/json.hpp>

namespace tenon::core {

/// The type of a property in few words: `number > 0`, `0..1`, `bool`, `integer >= 1 | "auto"`, `"a" | "b"`,
/// `span such as "500 steps"`, `list of integer >= 0`, `transform` for a component, `secret`. `root` is the schema in
/// which `$ref` is looked up.
[[nodiscard]] std::string describe_type(const Json& unresolved, const Json& root);

/// The same within a sentence: `a number > 0`, `true or false`, `an integer >= 1 or "auto"`, `one of "a", "b"`.
[[nodiscard]] std::string describe_wanted(const Json& unresolved, const Json& root);

/// A value within a sentence: `the string "fast"`, `12`, `true`, `null`, `a list`, `an object`.
[[nodiscard]] std::string describe_value(const Json& value);

/// All properties of an object schema, in "x-order" where it has one: `lr (number > 0), momentum (0..1)`.
[[nodiscard]] std::string describe_properties(const Json& schema, const Json& root);

/// The schema that a chain of `$ref` within `root` leads to.
/// Throws tenon::Error(kPlugin) when it leads nowhere or in a circle.
[[nodiscard]] const Json& follow_reference(const Json& schema, const Json& root);

}  // namespace tenon::core
