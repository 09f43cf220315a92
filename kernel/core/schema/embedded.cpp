// Schemas by name; the build makes schemas.inc of the files.
#include <core/schema/embedded.hpp>

#include <utility>

namespace tenon::core {

std::string_view embedded_schema(std::string_view name) noexcept {
  static constexpr std::pair<std::string_view, std::string_view> kSchemas[]{
#include <schemas.inc>
  };
  for (const auto& [known, text] : kSchemas) {
    if (known == name) return text;
  }
  return {};
}

}  // namespace tenon::core
