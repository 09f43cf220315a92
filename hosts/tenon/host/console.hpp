// The two streams of the program: results go to standard output, everything else to standard error.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <core/text/diagnostic.hpp>

namespace tenon::host {

/// Styles of a terminal, or none.
struct Paint {
  bool on = false;

  [[nodiscard]] std::string bold(std::string_view text) const { return wrap("\x1b[1m", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return wrap("\x1b[2m", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return wrap("\x1b[1;31m", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return wrap("\x1b[1;33m", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return wrap("\x1b[1;32m", text); }
  [[nodiscard]] std::string blue(std::string_view text) const { return wrap("\x1b[1;34m", text); }

 private:
  [[nodiscard]] std::string wrap(std::string_view style, std::string_view text) const;
};

enum class ColorChoice { kAuto, kAlways, kNever };

/// Writes what commands have to say. One thread.
class Console {
 public:
  explicit Console(ColorChoice color = ColorChoice::kAuto) { set_color(color); }

  /// What `--color` says, for both streams. "auto" looks at NO_COLOR, CLICOLOR_FORCE, CLICOLOR, TERM and the stream.
  void set_color(ColorChoice choice) noexcept;

  /// Diagnostics as JSON lines from here on, and every other message as a note among them.
  void set_json(bool json) noexcept;

  /// From here on nothing that is neither an error nor a warning.
  void set_quiet(bool quiet) noexcept { quiet_ = quiet; }

  /// For results.
  [[nodiscard]] Paint paint() const noexcept { return {out_color_}; }

  /// For messages.
  [[nodiscard]] Paint error_paint() const noexcept { return {error_color_}; }

  /// Columns of the terminal that shows results, or 0 where they go elsewhere and lines may have any length.
  [[nodiscard]] std::size_t width() const noexcept;

  /// A result, on standard output.
  void print(std::string_view text);

  /// A message that is neither error nor warning, on standard error: lines, each with its line feed.
  void complain(std::string_view text);

  /// Likewise, and told to the quiet, too: why a command ends with another code than 0 although nothing failed.
  void insist(std::string_view text);

  /// Findings and the closing line, which ends with `outcome` when there is an error; nothing without findings.
  void report(const core::Diagnostics& findings, std::string_view outcome = {});

  /// One finding without a closing line.
  void report(const core::Diagnostic& finding);

  /// An error or a warning without a place.
  void report(core::Severity severity, std::string_view code, std::string_view message,
              ErrorCode error_code = ErrorCode::kConfig);

  /// Writes out what is buffered. Returns 0, or exit code 10 after saying that results could not be written.
  [[nodiscard]] int flush();

 private:
  bool out_color_ = false;
  bool error_color_ = false;
  bool json_ = false;
  bool quiet_ = false;
  int write_error_ = 0;  ///< errno's value of the first failure on standard output.
};

}  // namespace tenon::host
