// Applies --set path=json.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <core/resolve/tree.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

/// The schema of a component's parameters, by "kind:name", or null.
using ParameterSchemas = std::function<const Json*(std::string_view component)>;

/// Sets one value in the merged tree, or reports why it cannot be set; adds the variables to which it refers to
/// `references`. The value's origin is the argument, as a Source named "--set". `parameters`: see ResolveRequest.
void apply_set(Tree& root, const std::string& argument, const ParameterSchemas& parameters,
               std::vector<std::string>& references, Diagnostics& diagnostics);

}  // namespace tenon::core
