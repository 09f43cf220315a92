// The spelling of JSON in pipelines that people write.
#include <host/json_text.hpp>

namespace tenon::host {

std::string spaced(const core::Json& value) {
  if (!value.is_structured() || value.empty()) return compact(value);
  std::string out = value.is_object() ? "{ " : "[";
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    if (!first) out += ", ";
    first = false;
    if (value.is_object()) out += compact(key) + ": ";
    out += spaced(member);
  }
  return out + (value.is_object() ? " }" : "]");
}

}  // namespace tenon::host
