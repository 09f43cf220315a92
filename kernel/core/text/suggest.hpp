// "Did you mean …?": the nearest known name to a misspelt one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// Damerau–Levenshtein distance (optimal string alignment: insert, delete, replace, swap of neighbours), over bytes.
/// Gives up and returns `limit + 1` once it must exceed `limit`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// The candidate nearest to `name`, or nothing when none is near. One lost, added, changed or swapped letter is always
/// near (a candidate of one letter only when the case differs or one letter was added to it); two edits need six
/// letters, three need ten. Differences of case and of '-', '_' and blank count little. Of candidates as near,
/// one that only lost letters comes first, then the earlier.
[[nodiscard]] std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);

/// `did you mean "momentum"?`, or an empty text when nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// Whether `name` can hardly be anything but a slip for `meant`: it has four letters and is one edit away, or differs in
/// case and separators alone.
[[nodiscard]] bool is_slip(std::string_view name, std::string_view meant);

/// The text between double quotes, with quotes, backslashes and control characters escaped as in JSON; a text of more
/// than `limit` code points is cut and ends with "…". Call it as `core::quoted`: std::quoted is found by its arguments too.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t limit = 60);

}  // namespace tenon::core
