// The words of whatever a component throws.
#pragma once

#include <string>

namespace tenon::engine {

/// What the exception that is being handled says, whatever its type. Call it within a handler alone.
[[nodiscard]] std::string thrown_text();

}  // namespace tenon::engine
