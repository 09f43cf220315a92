// Looks ahead in a JSON text.
#include <core/json/lookahead.hpp>

#include <algorithm>

#include <core/json/scalars.hpp>

namespace tenon::core {

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool begins_number(char c) noexcept { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.'; }

std::size_t line_end(std::string_view text, std::size_t at) noexcept {
  return std::min(text.find_first_of("\r\n", at), text.size());
}

std::size_t next_text(std::string_view text, std::size_t at) noexcept {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

std::size_t next_token(std::string_view text, std::size_t at) noexcept {
  for (at = next_text(text, at);; at = next_text(text, at)) {
    const std::string_view two = text.substr(at, 2);
    if (two == "//") {
      at = line_end(text, at);
    } else if (two == "/*") {
      const std::size_t close = text.find("*/", at + 2);
      at = close == std::string_view::npos ? text.size() : close + 2;
    } else {
      return at;
    }
  }
}

char next_char(std::string_view text, std::size_t at) noexcept {
  const std::size_t next = next_text(text, at);
  return next < text.size() ? text[next] : '\0';
}

std::optional<std::size_t> string_end(std::string_view text, std::size_t begin) noexcept {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == text[begin]) return i + 1;
    if (text[i] == '\n' || text[i] == '\r') return std::nullopt;
    if (text[i] == '\\') ++i;
  }
  return std::nullopt;
}

bool key_follows(std::string_view text, std::size_t at) noexcept {
  const std::size_t begin = next_text(text, at);
  if (begin == text.size()) return false;
  if (text[begin] == '"' || text[begin] == '\'') {
    const std::optional<std::size_t> end = string_end(text, begin);
    return end && next_char(text, *end) == ':';
  }
  return begins_word(text[begin]) && next_char(text, word_end(text, begin)) == ':';
}

bool value_follows(std::string_view text, std::size_t at) noexcept {
  const char c = next_char(text, at);
  const bool begins = c == '"' || c == '\'' || c == '{' || c == '[' || begins_word(c) || begins_number(c);
  return begins && !key_follows(text, at);
}

}  // namespace tenon::core
