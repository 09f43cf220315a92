// The category that a misspelt one was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tenon::transforms {

/// The category with the fewest edits of letters (Levenshtein) to `text`, whatever the case; the earlier of two. nullptr
/// when more than a third of the letters would change, or `text` is longer than 64 bytes.
[[nodiscard]] const std::string* nearest(std::string_view text, std::span<const std::string> categories);

}  // namespace tenon::transforms
