// Reads JSON with the place of every key and value, and goes on after an error so that all are told at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <core/json/json.hpp>
#include <core/json/pointer_table.hpp>
#include <core/text/diagnostic.hpp>
#include <core/text/source.hpp>

namespace tenon::core {

/// Where a value stands. `key` covers the key with its quotes and is empty for array elements and the root.
struct Place {
  Span key = {};
  Span value = {};
};

using PlaceTable = PointerTable<Place>;

/// A text as a value. After errors it holds what could be understood, so that later stages can look for more.
struct Document {
  SourcePtr source = {};
  Json value = {};         ///< Discarded (`is_discarded()`) when nothing could be read.
  PlaceTable places = {};  ///< An entry for each value in `value`.
  bool complete = true;    ///< False when reading stopped early: truncated, binary, too deep, too many errors.

  /// False when there is no value to go on with.
  [[nodiscard]] bool usable() const { return !value.is_discarded(); }
};

/// `//` and `/* */` comments are errors with a code of their own, or blanks.
enum class Comments { kRefuse, kAllow };

struct ReadOptions {
  Comments comments = Comments::kRefuse;
  std::size_t begin = 0;     ///< Offset in the source at which the JSON text begins.
  std::string pointer = {};  ///< Where the value will lie in the whole; begins the pointers of diagnostics.
};

/// Deepest nesting of arrays and objects that is read.
inline constexpr std::size_t kMaxJsonDepth = 200;

/// The reader gives up after so many errors in one text.
inline constexpr std::size_t kMaxSyntaxErrors = 50;

/// Comments are allowed in a path that ends in ".jsonc".
[[nodiscard]] Comments comments_for(std::string_view path) noexcept;

/// Reads strict JSON (RFC 8259). Integers have neither '.' nor exponent and must fit a signed 64-bit integer; other
/// numbers are floats and must fit a double. A byte order mark is a warning. Of a repeated key the first value is kept.
/// Brackets that do not match are judged by the lines' indentation, where that leaves fewer errors. `null` is read; whether it may stand there is for the caller. Only the first comment is reported where comments are
/// refused. Every diagnostic carries the pointer of the value that it spoils. Linear in the length of the text; never
/// throws on bad input.
///
/// Codes: empty-file, binary-file, invalid-utf8, byte-order-mark (warning), truncated, unexpected, duplicate-key,
/// trailing-comma, missing-comma, missing-colon, missing-value, comment, single-quotes, unquoted-key, unquoted-string,
/// not-a-number (NaN, Infinity), bad-number (leading zero, '+', '.5', hexadecimal …), number-range, bad-escape,
/// bad-string (control character, line end, lost or superfluous quote), wrong-bracket, missing-bracket, stray-bracket,
/// trailing-text, too-deep, too-many-errors.
[[nodiscard]] Document read_json(const SourcePtr& source, Diagnostics& diagnostics, const ReadOptions& options = {});

}  // namespace tenon::core
