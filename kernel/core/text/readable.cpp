// Escaping what is not meant to be obeyed.
#include <core/text/readable.hpp>

#include <cstddef>

#include <fmt/format.h>

namespace tenon::core {
namespace {

unsigned char byte_of(char c) noexcept { return static_cast<unsigned char>(c); }

/// U+0080 to U+009F, which some terminals obey as they do escape sequences.
bool is_further_control(std::string_view two) {
  return two.size() == 2 && byte_of(two[0]) == 0xc2 && byte_of(two[1]) >= 0x80 && byte_of(two[1]) <= 0x9f;
}

bool turns_direction(std::string_view three) {
  return (three >= "\u202a" && three <= "\u202e") || (three >= "\u2066" && three <= "\u2069");
}

/// Appends the character at `at`, or what stands for it, and gives how many bytes it takes.
std::size_t append_visible(std::string& out, std::string_view text, std::size_t at) {
  const std::string_view three = text.substr(at, 3);
  if (turns_direction(three)) {
    const int last = byte_of(three[2]) & 0x3F;
    out += fmt::format("\\u20{:02x}", (byte_of(three[1]) & 0x3) * 0x40 + last);
    return 3;
  }
  if (is_further_control(three.substr(0, 2))) {
    out += fmt::format("\\u{:04x}", byte_of(three[1]));
    return 2;
  }
  switch (const unsigned char byte = byte_of(text[at])) {
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default: out += byte < 0x20 || byte == 0x7f ? fmt::format("\\u{:04x}", byte) : std::string(1, text[at]);
  }
  return 1;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) at += append_visible(out, text, at);
  return out;
}

std::string readable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\t') {
      out += text[at++];
    } else if (text[at] == '\n') {
      out += text[at++];
      if (at < text.size() && text[at] != ' ' && text[at] != '\n') out += "  ";
    } else {
      at += append_visible(out, text, at);
    }
  }
  return out;
}

}  // namespace tenon::core
