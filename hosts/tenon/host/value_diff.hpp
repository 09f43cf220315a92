// What differs between two values of JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>

namespace tenon::host {

/// One difference. Null where there is no such value; both are never null. They point into the values compared.
struct ValueChange {
  std::string pointer;
  const core::Json* before = nullptr;
  const core::Json* after = nullptr;
};

/// All differences, each as deep as both sides have the same structure: members of objects by key, and elements of arrays
/// of one length. A value that only one side has comes whole. In the order of `before`, then what only `after` has;
/// the order of members is no difference. `pointer` is where the two stand. Linear but for sorting keys.
[[nodiscard]] std::vector<ValueChange> differences(const core::Json& before, const core::Json& after,
                                                   std::string_view pointer = "");

/// "0.002 -> 0.01", "added: 3", "removed: [1, 2]". Long values are cut; a node stands for itself by what it uses.
[[nodiscard]] std::string to_string(const ValueChange& change);

/// {"pointer", "what": "changed"|"added"|"removed"}, to which callers add the sides.
[[nodiscard]] core::Json change_json(const ValueChange& change);

}  // namespace tenon::host
