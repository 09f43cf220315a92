// A text that diagnostics point into: a file, or one argument of the command line.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// A place as people count it.
struct Position {
  std::size_t line = 1;    ///< From 1.
  std::size_t column = 1;  ///< From 1, in Unicode code points; a tab counts as one.

  friend bool operator==(const Position&, const Position&) = default;
};

/// Immutable text with a table of its lines. Lines end with LF, CRLF or CR. A byte order mark stays in the text, so that
/// offsets are those of the file, and takes no column. Safe to read from any thread. Shared by every span into it.
class Source {
 public:
  enum class Kind {
    kFile,      ///< `path` names a file (or what an embedder calls its text).
    kArgument,  ///< `path` is an option such as "--set" and the text is its argument.
  };

  Source(std::string path, std::string text, Kind kind = Kind::kFile);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

  /// Line and column of a byte offset; offsets past the end are taken as the end, those inside a code point as its
  /// start. Logarithmic in the number of lines; linear in the length of one line where the text is not all ASCII.
  [[nodiscard]] Position position(std::size_t offset) const noexcept;

  /// The line that holds a byte offset, from 1. Logarithmic in the number of lines.
  [[nodiscard]] std::size_t line_of(std::size_t offset) const noexcept;

  /// A line from 1 without its line end and without a byte order mark; empty past the last line.
  [[nodiscard]] std::string_view line(std::size_t number) const noexcept;

  [[nodiscard]] std::size_t line_count() const noexcept { return line_starts_.size(); }

  /// Offset at which the line's visible text begins (behind a byte order mark).
  [[nodiscard]] std::size_t line_begin(std::size_t number) const noexcept;

 private:
  std::string path_;
  std::string text_;
  std::vector<std::size_t> line_starts_;
  bool ascii_;
  Kind kind_;
};

using SourcePtr = std::shared_ptr<const Source>;

/// Bytes [begin, end) of a source. Without a source it means "no place", and converts to false.
struct Span {
  SourcePtr source;
  std::size_t begin = 0;
  std::size_t end = 0;

  explicit operator bool() const noexcept { return source != nullptr; }

  /// The bytes that it covers; empty without a source.
  [[nodiscard]] std::string_view text() const noexcept;

  /// Line and column of its first byte; 1:1 without a source.
  [[nodiscard]] Position position() const noexcept;

  /// "pipe.json:31:16", or "--set nodes.opt.with.lr=…" for an argument; empty without a source.
  [[nodiscard]] std::string describe() const;
};

/// Number of code points in UTF-8; a byte that is not valid UTF-8 counts as one.
[[nodiscard]] std::size_t count_code_points(std::string_view text) noexcept;

/// Bytes of the code point that starts `text` (1 to 4), or 0 where `text` is empty or does not start with valid UTF-8
/// (overlong forms, surrogates and values above U+10FFFF are not valid).
[[nodiscard]] std::size_t code_point_length(std::string_view text) noexcept;

}  // namespace tenon::core
