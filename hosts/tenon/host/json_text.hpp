// JSON as text that is always valid UTF-8.
#pragma once

#include <string>

#include <core/json/json.hpp>

namespace tenon::host {

/// On one line, without blanks: `{"lr":0.1}`.
[[nodiscard]] inline std::string compact(const core::Json& value) {
  return value.dump(-1, ' ', false, core::Json::error_handler_t::replace);
}

/// Indented by two blanks, ending with a line feed.
[[nodiscard]] inline std::string pretty(const core::Json& value) {
  return value.dump(2, ' ', false, core::Json::error_handler_t::replace) + '\n';
}

/// As people write it on one line: `{ "lr": 0.1, "betas": [0.9, 0.999] }`.
[[nodiscard]] std::string spaced(const core::Json& value);

}  // namespace tenon::host
