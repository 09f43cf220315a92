// Strings: escapes, UTF-8, and what must not stand in them.
#include <core/json/scalars.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

/// Four hexadecimal digits behind "\u".
std::optional<std::uint32_t> hex_escape(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\\u" || text.size() < at + 6) return std::nullopt;
  std::uint32_t code = 0;
  const char* first = text.data() + at + 2;
  const auto [end, error] = std::from_chars(first, first + 4, code, 16);
  return error == std::errc() && end == first + 4 ? std::optional(code) : std::nullopt;
}

bool is_line_end(char c) noexcept { return c == '\n' || c == '\r'; }

class StringScanner {
 public:
  StringScanner(std::string_view text, std::size_t begin, SyntaxErrors& errors)
      : text_(text), begin_(begin), quote_(text[begin]), errors_(errors) {}

  ScannedString scan() {
    result_.end = begin_ + 1;
    while (true) {
      const std::size_t run = plain_run(result_.end);
      result_.value.append(text_.substr(result_.end, run));
      result_.end += run;
      if (result_.end >= text_.size()) return unclosed();
      const char c = text_[result_.end];
      if (c == quote_) break;
      if (is_line_end(c)) return unclosed();
      if (c == '\\') {
        escape();
      } else if (static_cast<unsigned char>(c) < 0x20) {
        control(c);
      } else {
        code_point();
      }
    }
    ++result_.end;
    if (quote_ == '\'') {
      errors_.report(begin_, result_.end,
                     {.code = "single-quotes",
                      .message = "a string stands between double quotes",
                      .label = fmt::format("write {}", core::quoted(result_.value)),
                      .replacement = Json(result_.value).dump(),
                      .applicability = Applicability::kSafe});
    }
    return std::move(result_);
  }

 private:
  /// Length of the run of printable ASCII that needs no attention.
  [[nodiscard]] std::size_t plain_run(std::size_t from) const noexcept {
    std::size_t i = from;
    for (; i < text_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text_[i]);
      if (byte < 0x20 || byte >= 0x80 || text_[i] == quote_ || text_[i] == '\\') break;
    }
    return i - from;
  }

  ScannedString unclosed() {
    result_.closed = false;
    return std::move(result_);
  }

  void escape() {
    const std::size_t at = result_.end;
    if (at + 1 >= text_.size() || is_line_end(text_[at + 1])) {
      result_.end = at + 1;
      return;  // The string is found unclosed next.
    }
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t simple = kLetters.find(text_[at + 1]);
    if (simple != std::string_view::npos) {
      result_.value += kMeanings[simple];
      result_.end = at + 2;
    } else if (text_[at + 1] == 'u') {
      unicode_escape();
    } else {
      const std::size_t length = code_point_length(text_.substr(at + 1));
      const bool printable = length > 0 && static_cast<unsigned char>(text_[at + 1]) >= 0x20;
      bad_escape(at, at + 1 + std::max<std::size_t>(length, 1),
                 fmt::format("\\{} is no escape of JSON", printable ? text_.substr(at + 1, length) : "·"),
                 text_[at + 1] == '\'' ? "write ' without the backslash" : "for a backslash write \\\\");
      if (length == 0) {  // An invalid byte, which is told next.
        result_.end = at + 1;
        return;
      }
      result_.value += text_.substr(at, 1 + length);
      result_.end = at + 1 + length;
    }
  }

  void unicode_escape() {
    const std::size_t at = result_.end;
    const std::optional<std::uint32_t> code = hex_escape(text_, at);
    if (!code) {
      bad_escape(at, at + 2, "\\u needs four hexadecimal digits", "such as \\u00e9");
      result_.value += kReplacementCharacter;
      result_.end = at + 2;
      return;
    }
    result_.end = at + 6;
    const bool high = *code >= 0xD800 && *code < 0xDC00;
    const bool low = *code >= 0xDC00 && *code < 0xE000;
    const std::optional<std::uint32_t> second = high ? hex_escape(text_, at + 6) : std::nullopt;
    if (second && *second >= 0xDC00 && *second < 0xE000) {
      append_utf8(result_.value, 0x10000 + ((*code - 0xD800) << 10) + (*second - 0xDC00));
      result_.end = at + 12;
    } else if (high || low) {
      bad_escape(at, at + 6, "half of a surrogate pair", "write the character itself, or both halves");
      result_.value += kReplacementCharacter;
    } else {
      append_utf8(result_.value, *code);
    }
  }

  void bad_escape(std::size_t begin, std::size_t end, std::string message, std::string label) {
    errors_.report(begin, end, {.code = "bad-escape", .message = std::move(message), .label = std::move(label)});
  }

  void control(char c) {
    const std::string written = Json(std::string(1, c)).dump();
    const std::string escape = written.substr(1, written.size() - 2);
    if (!std::exchange(told_control_, true)) {
      errors_.report(result_.end, result_.end + 1,
                     {.code = "bad-string",
                      .message = c == '\t' ? "a tab within a string" : "a control character within a string",
                      .label = fmt::format("write {}", escape),
                      .replacement = escape,
                      .applicability = Applicability::kSafe});
    }
    result_.value += c;
    ++result_.end;
  }

  void code_point() {
    const std::size_t length = code_point_length(text_.substr(result_.end));
    if (length > 0) {
      result_.value += text_.substr(result_.end, length);
      result_.end += length;
      return;
    }
    if (!std::exchange(told_utf8_, true)) {
      errors_.report(
          result_.end, result_.end + 1,
          {.code = "invalid-utf8",
           .message = fmt::format("byte 0x{:02X} is not UTF-8", static_cast<unsigned char>(text_[result_.end])),
           .label = "save the file as UTF-8"});
    }
    result_.value += kReplacementCharacter;
    ++result_.end;
  }

  std::string_view text_;
  std::size_t begin_;
  char quote_;
  SyntaxErrors& errors_;
  ScannedString result_;
  bool told_control_ = false;
  bool told_utf8_ = false;
};

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = code_point_length(text);
    out += length > 0 ? text.substr(0, length) : kReplacementCharacter;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

ScannedString scan_string(std::string_view text, std::size_t begin, SyntaxErrors& errors) {
  return StringScanner(text, begin, errors).scan();
}

}  // namespace tenon::core
