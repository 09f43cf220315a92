// The parameters of a component as rows for people.
#pragma once

#include <string>
#include <vector>

#include <core/json/json.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// A parameter, or a member of one, for people.
struct ParameterRow {
  std::string
      name;  ///< Members of a structure are "betas.first", of a list "fields[].name", of a map "ports.NAME.size".
  std::string type;      ///< With its range: "integer >= 1".
  std::string fallback;  ///< The default as JSON, or "required"; empty where the members' defaults tell it.
  std::string meaning;
};

/// All parameters in the order of their declaration, each followed by its members. `schema` is that of the component's
/// parameters.
[[nodiscard]] std::vector<ParameterRow> parameter_rows(const core::Json& schema);

/// The rows in aligned columns. Empty where there are none.
[[nodiscard]] std::string parameter_table(const core::Json& schema, const Console& console);

}  // namespace tenon::host
