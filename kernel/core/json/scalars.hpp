// Scans strings, numbers and words of JSON, and the ways in which people miswrite them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <core/json/json.hpp>
#include <core/json/syntax_errors.hpp>

namespace tenon::core {

/// A scanned token: the bytes up to `end`, and its value unless it could not be understood.
struct Scalar {
  std::size_t end = 0;
  std::optional<Json> value;
};

struct ScannedString {
  std::size_t end = 0;
  std::string value;   ///< Invalid bytes and escapes replaced by U+FFFD.
  bool closed = true;  ///< False when the line or the text ended first; then `end` is that place.
};

/// Scans the string whose opening quote (`"`, or `'` which is an error) is at `begin`. A string that is not
/// closed is left to the caller to report.
[[nodiscard]] ScannedString scan_string(std::string_view text, std::size_t begin, SyntaxErrors& errors);

/// Scans what begins with a digit, '-', '+' or '.'.
[[nodiscard]] Scalar scan_number(std::string_view text, std::size_t begin, SyntaxErrors& errors);

/// Scans what begins with a letter, '_' or '$' in a value's place: true, false, null, or an error.
[[nodiscard]] Scalar scan_word(std::string_view text, std::size_t begin, SyntaxErrors& errors);

/// Where a word that begins at `begin` ends: letters, digits, '_', '$', '-', '.' and every byte above ASCII.
[[nodiscard]] std::size_t word_end(std::string_view text, std::size_t begin) noexcept;

/// The text with U+FFFD in place of each byte that is not UTF-8.
[[nodiscard]] std::string as_utf8(std::string_view text);

/// Whether a byte can begin a word: letters, '_', '$', bytes above ASCII.
[[nodiscard]] bool begins_word(char c) noexcept;

}  // namespace tenon::core
