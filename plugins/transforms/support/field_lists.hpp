// Lists of fields, as parameters name them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <tenon/error.hpp>
#include <tenon/spec.hpp>

namespace tenon::transforms {

/// \throws Error (kConfig) for a field that the parameter "fields" names twice.
inline void require_distinct(const std::vector<std::string>& fields) {
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    if (std::find(fields.begin(), field, *field) == field) continue;
    throw Error(ErrorCode::kConfig, "\"" + *field + "\" is named twice",
                "/fields/" + std::to_string(field - fields.begin()));
  }
}

/// \throws Error (kConfig) with `pointer` when there is a field of that name already.
inline void require_new(const Spec& in, const std::string& name, const std::string& pointer) {
  if (find(in, name) == nullptr) return;
  throw Error(ErrorCode::kConfig, "there is a field \"" + name + "\" already: give the new one another name", pointer);
}

}  // namespace tenon::transforms
