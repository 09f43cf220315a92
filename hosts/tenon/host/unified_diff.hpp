// What has changed in a text, as `diff -u` and `patch` write it.
#pragma once

#include <string>
#include <string_view>

namespace tenon::host {

/// Hunks with three lines of context under the lines "--- name" and "+++ name"; empty when the texts are equal. Lines end
/// with LF; a carriage return before it belongs to the line. The fewest lines that differ (Myers, "An O(ND) difference
/// algorithm and its variations", Algorithmica 1, 1986).
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after, std::string_view name);

}  // namespace tenon::host
