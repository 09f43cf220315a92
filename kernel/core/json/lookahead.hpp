// What stands further on in a JSON text, without reading it: questions by which the reader chooses how to go on.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tenon::core {

[[nodiscard]] bool is_blank(char c) noexcept;

/// Digits, signs and the point.
[[nodiscard]] bool begins_number(char c) noexcept;

/// Offset of the line end at or behind `at`, or of the text's end.
[[nodiscard]] std::size_t line_end(std::string_view text, std::size_t at) noexcept;

/// Offset of the next byte that is no blank (comments count as text), or of the text's end.
[[nodiscard]] std::size_t next_text(std::string_view text, std::size_t at) noexcept;

/// As `next_text`, but comments are passed over like blanks.
[[nodiscard]] std::size_t next_token(std::string_view text, std::size_t at) noexcept;

/// The byte at `next_text`, or a zero byte at the text's end.
[[nodiscard]] char next_char(std::string_view text, std::size_t at) noexcept;

/// Behind the closing quote of the string whose opening quote is at `begin`; nothing when its line ends first.
[[nodiscard]] std::optional<std::size_t> string_end(std::string_view text, std::size_t begin) noexcept;

/// Whether a key with its colon begins behind the blanks at `at`. A bare word counts as a key.
[[nodiscard]] bool key_follows(std::string_view text, std::size_t at) noexcept;

/// Whether something that can only be a value, no key with a colon, begins behind the blanks at `at`.
[[nodiscard]] bool value_follows(std::string_view text, std::size_t at) noexcept;

}  // namespace tenon::core
