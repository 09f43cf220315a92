// Lost and superfluous quotes: where on its line a string must have begun or ended.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::core {

/// Whether a string is a key, before a colon, or a value.
enum class StringRole { kKey, kValue };

/// How a string is to be read so that the rest of its line is JSON.
struct MendedString {
  std::size_t end = 0;               ///< Reading goes on here.
  std::string value;                 ///< Without the superfluous quotes; escapes are not resolved.
  std::optional<std::size_t> stray;  ///< The first superfluous quote; nothing when the closing one is lost.
};

/// For the string whose opening quote is at `begin` and which is not closed on its line, or not behind its value. Nothing
/// when no single quote explains the line, or the line is too long to try.
[[nodiscard]] std::optional<MendedString> mend_string(std::string_view text, std::size_t begin, StringRole role);

/// Offset of the closing quote of a string whose opening quote is lost before `begin`; nothing when that is not so.
[[nodiscard]] std::optional<std::size_t> lost_opening(std::string_view text, std::size_t begin, StringRole role);

}  // namespace tenon::core
