// Fills in the defaults that a schema names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>

namespace tenon::core {

/// Fills in the default of every absent property, also inside objects that are there and inside array items; an
/// object's own default is filled in turn. Of alternatives (anyOf, oneOf) the first that knows all keys of the value is
/// taken. Returns the pointers (below `base`) of all values that were added, parents before children. Values of another
/// type than the schema's are left alone.
std::vector<std::string> fill_defaults(Json& value, const Json& schema, std::string_view base = "");

}  // namespace tenon::core
