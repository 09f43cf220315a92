// Text of others within messages: whatever a name holds, a terminal does not obey it and no line is faked.
#pragma once

#include <string>
#include <string_view>

namespace tenon::core {

/// A name within a sentence: control characters, ends of lines among them, and characters that turn the direction of
/// writing are escaped as in JSON.
[[nodiscard]] std::string one_line(std::string_view text);

/// A message, which may have several lines and quote names: likewise, but ends of lines and tabulators stay, and every
/// line behind the first begins with a blank, as that of no message does.
[[nodiscard]] std::string readable(std::string_view text);

}  // namespace tenon::core
