// What schemas say beyond draft 7, found in the values that they describe: paths, references, components, secrets.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <core/json/json.hpp>

namespace tenon::core {

/// Calls `visit` for every value at or below `value` whose schema says "x-path", "x-reference", "x-component" or
/// "x-secret"; `visit` may change it. What lies within a nested component is described by that one's schema and not
/// visited. `pointer` is the place of `value`.
using VisitAnnotated = std::function<void(Json& value, const Json& schema, const std::string& pointer)>;
void visit_annotated(Json& value, const Json& schema, const std::string& pointer, const VisitAnnotated& visit);

/// Whether a value of this schema is a secret or holds one. `root` is where its references point.
[[nodiscard]] bool holds_secret(const Json& schema, const Json& root);

/// Whether what is written at this place below a value of `schema` may be a secret: also at a place of no meaning among
/// parameters of which one is.
[[nodiscard]] bool may_hold_secret(const Json& schema, std::span<const std::string> place);

/// A component that stands as a parameter.
struct NestedPlace {
  std::string pointer;  ///< Of the object with "use" and "with".
  std::string kind;     ///< The kind that the parameter takes.
  std::string use;      ///< "transform:cutout", as it is written.
};

/// All components that stand as parameters in `value`, not those within them. Values that are no objects with the text
/// "use" are left out.
[[nodiscard]] std::vector<NestedPlace> nested_places(const Json& value, const Json& schema,
                                                     const std::string& pointer = "");

/// How deep components may stand within components.
inline constexpr int kDeepestNesting = 16;

}  // namespace tenon::core
