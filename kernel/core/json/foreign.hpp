// What is given for JSON and is none: other files, and characters that only look right.
#pragma once

#include <string_view>

namespace tenon::core {

/// A character that editors and web pages put in, which looks like another or like nothing.
struct LookAlike {
  std::string_view bytes;
  std::string_view message;
  std::string_view label;
};

/// The one with which a text begins, or null.
[[nodiscard]] const LookAlike* find_look_alike(std::string_view text) noexcept;

/// Why a text is no text at all, as "it is …"; empty for a text.
[[nodiscard]] std::string_view binary_reason(std::string_view text) noexcept;

}  // namespace tenon::core
