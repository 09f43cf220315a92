// A place in a JSON text that moves over blanks and comments.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <core/json/reader.hpp>
#include <core/json/syntax_errors.hpp>

namespace tenon::core {

class Cursor {
 public:
  Cursor(std::string_view text, const ReadOptions& options, SyntaxErrors& errors)
      : at(options.begin), text_(text), errors_(errors), comments_(options.comments) {}

  std::size_t at;  ///< Offset of the next byte; may be set.

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] bool at_end() const noexcept { return at >= text_.size(); }
  [[nodiscard]] char peek() const noexcept { return text_[at]; }
  [[nodiscard]] bool at_closing() const noexcept { return !at_end() && (peek() == '}' || peek() == ']'); }
  [[nodiscard]] bool at_number() const noexcept;

  /// Whether a word begins here: invalid bytes and characters that only look like blanks or quotes begin none.
  [[nodiscard]] bool at_word() const noexcept;

  /// Moves over blanks and comments. The first comment is reported where comments are refused; one that is not closed
  /// takes the rest of the text.
  void skip_blanks();

  /// Moves over what can begin neither key nor value; at least one byte.
  void skip_garbage();

  /// Moves to a comma, a closing bracket or the line's end, over strings that are closed on their line.
  void skip_to_separator();

  /// Where the comment begins that is not closed.
  [[nodiscard]] std::optional<std::size_t> open_comment() const noexcept { return open_comment_; }

 private:
  void comment(std::size_t end, bool hash);

  std::string_view text_;
  SyntaxErrors& errors_;
  Comments comments_;
  bool told_comment_ = false;
  std::optional<std::size_t> open_comment_;
};

}  // namespace tenon::core
