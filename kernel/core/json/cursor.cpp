// Blanks, comments, and what is skipped after an error.
#include <core/json/cursor.hpp>

#include <algorithm>
#include <utility>

#include <core/json/foreign.hpp>
#include <core/json/lookahead.hpp>
#include <core/json/scalars.hpp>

namespace tenon::core {
namespace {

bool is_structural(char c) noexcept { return std::string_view(",:{}[]\"'/").find(c) != std::string_view::npos; }

}  // namespace

bool Cursor::at_number() const noexcept { return begins_number(peek()); }

bool Cursor::at_word() const noexcept {
  const std::string_view rest = text_.substr(at);
  return begins_word(peek()) && code_point_length(rest) > 0 && find_look_alike(rest) == nullptr;
}

void Cursor::skip_blanks() {
  while (!at_end() && !errors_.stopped()) {
    if (is_blank(peek())) {
      ++at;
    } else if (text_.substr(at, 2) == "//" || peek() == '#') {
      comment(line_end(text_, at), peek() == '#');
    } else if (text_.substr(at, 2) == "/*") {
      const std::size_t close = text_.find("*/", at + 2);
      if (close == std::string_view::npos) {
        open_comment_ = at;
        at = text_.size();
        return;
      }
      comment(close + 2, false);
    } else {
      return;
    }
  }
}

void Cursor::comment(std::size_t end, bool hash) {
  const bool allowed = comments_ == Comments::kAllow && !hash;
  if (!allowed && !std::exchange(told_comment_, true)) {
    errors_.report(at, std::min(line_end(text_, at), end),
                   {.code = "comment",
                    .message = hash ? "# begins no comment" : "comments are not allowed in .json",
                    .label = hash ? "write // in a file that ends in .jsonc"
                                  : "end the file's name in .jsonc, or remove comments"});
  }
  at = end;
}

void Cursor::skip_garbage() {
  do {
    ++at;
  } while (!at_end() && !is_blank(peek()) && !is_structural(peek()) && !at_word() && !at_number());
}

void Cursor::skip_to_separator() {
  while (!at_end()) {
    const char c = peek();
    if (c == ',' || c == '}' || c == ']' || c == '\n' || c == '\r') return;
    const std::optional<std::size_t> closed = c == '"' ? string_end(text_, at) : std::nullopt;
    at = closed.value_or(at + 1);
  }
}

}  // namespace tenon::core
