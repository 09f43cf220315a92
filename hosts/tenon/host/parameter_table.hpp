// The parameters of a component as rows for people.
#pragma once

#include <string>

#include <core/json/json.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// A row a parameter: name, type, default (or "required"), meaning. The members of a structure follow its row as
/// "betas.first", those of a list of structures as "fields[].name", those of a map of them as "ports.NAME.size".
/// `schema` is that of the component's parameters. Empty where there are none.
[[nodiscard]] std::string parameter_table(const core::Json& schema, const Console& console);

}  // namespace tenon::host
