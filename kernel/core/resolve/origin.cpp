// Origins in words.
#include <core/resolve/origin.hpp>

#include <fmt/format.h>

namespace tenon::core {

std::string Origin::describe() const {
  if (kind == LayerKind::kDefault) return fmt::format("default of {}", subject);
  if (variable.empty()) return value.describe();
  return fmt::format("vars.{} at {}", variable, variable_value.describe());
}

}  // namespace tenon::core
