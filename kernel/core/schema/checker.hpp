// Checks a value against a JSON Schema (the draft-7 subset of manifests) and reports every error at its place.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>
#include <core/schema/defaults.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

/// Where a value of the merged pipeline was written.
struct Located {
  Span key = {};                      ///< Its key; empty for array elements and the root.
  Span value = {};                    ///< Its value; where a variable stands for it, the reference.
  Span editable = {};                 ///< What a corrected value would replace; empty where no single text would do.
  std::vector<Label> secondary = {};  ///< Further places of interest: the variable's value.
  /// False when the pointer is not written and this is its nearest ancestor. A null that deleted the value counts as
  /// written.
  bool exact = true;
};

/// Stands under the null of a later layer that took a key away which is needed.
constexpr std::string_view kDeletedHere = "null deletes it: give it a value";

using Locate = std::function<Located(std::string_view pointer)>;

/// How the messages speak of what is checked, and where it lies.
struct CheckContext {
  std::string subject = {};        ///< "optimizer:sgd"; begins the messages. Empty: values are named by dotted path.
  std::string noun = "parameter";  ///< What a member of the checked object is called: "parameter" or "key".
  std::string base = {};           ///< JSON pointer of the checked value in the whole document.
  Locate locate = {};              ///< From a pointer in the whole document to its place.
};

/// Checks `value` against `schema` and adds every violation to `diagnostics`, one each. Codes: unknown-key (at the key,
/// nearest name suggested, all names with their types in a note), missing-key, wrong-type, out-of-range, unknown-value
/// (const, enum), bad-unit, bad-name (propertyNames), bad-format (pattern), bad-length (minItems, maxItems, minLength,
/// maxLength, uniqueItems,
/// minProperties), bad-value (the rest). A missing key is not reported where `diagnostics` already holds an
/// error about it (a member that could not be read).
///
/// Understood: type (1.0 is not an integer), properties, required, additionalProperties, patternProperties,
/// propertyNames, enum, const, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minItems, maxItems,
/// uniqueItems, minProperties, items (one schema), minLength, maxLength, pattern, anyOf, oneOf, allOf, not, $ref within `schema`.
/// "x-unit" makes a string a quantity; minimum and exclusiveMinimum then bound its number. "x-secret" takes only
/// { "env": "NAME" }: whatever else is there is one bad-secret, which neither repeats nor shows the value.
///
/// Throws tenon::Error(kPlugin) when the schema itself is broken (a $ref that leads nowhere, an invalid pattern).
void check_value(const Json& value, const Json& schema, const CheckContext& context, Diagnostics& diagnostics);

}  // namespace tenon::core
