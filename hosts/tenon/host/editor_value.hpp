// Single values in schemas for editors: where a reference, a quantity or null may stand.
#pragma once

#include <string_view>

#include <core/json/json.hpp>

namespace tenon::host {

/// A text that holds "${vars.name}".
[[nodiscard]] core::Json variable_inside();

/// Where `schema` is a quantity, `out` becomes a pattern for it, with an example.
void spell_quantity(core::Json& out, const core::Json& schema);

/// `out` so that "${vars.name}" is taken too: within a text of limited spelling, else as the whole value. `wanted` says
/// what else stands there: "a number > 0".
[[nodiscard]] core::Json opened(core::Json out, std::string_view wanted);

/// `out` so that null is taken too.
[[nodiscard]] core::Json deletable(core::Json out);

}  // namespace tenon::host
