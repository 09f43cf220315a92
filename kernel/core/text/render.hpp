// Diagnostics as text with carets for people, and as JSON lines in rustc's shape for tools.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <core/text/diagnostic.hpp>

namespace tenon::core {

struct RenderOptions {
  bool color = false;  ///< ANSI colours. The caller decides (terminal, NO_COLOR; see `want_color`).
  /// What follows the counts in the closing line, such as "nothing was started"; empty: the counts alone.
  std::string_view outcome = "nothing was started";
  /// Places that are shown as "***", besides those that the finding itself hides.
  std::span<const Span> hidden = {};
};

/// One finding with its source line and caret, as in
///
///     error[unknown-key]: optimizer:sgd has no parameter "momentun"
///       --> pipe.json:31:16  /nodes/opt/with/momentun
///     31 |       "with": { "momentun": 0.9, "lr": 0.1 } },
///        |                 ^^^^^^^^^^ did you mean "momentum"?
///        = parameters: lr (number > 0), momentum (0..1)
///
/// ends with a line feed. Tabs are shown as four blanks, control characters and invalid UTF-8 as "·", and long lines
/// are cut around the caret. A span over several lines is marked on its first line.
[[nodiscard]] std::string render_text(const Diagnostic& diagnostic, const RenderOptions& options = {});

/// All findings in their present order and the closing line "3 errors, 1 warning; nothing was started"; empty without
/// findings. The outcome is told only when there is an error.
[[nodiscard]] std::string render_text(const Diagnostics& diagnostics, const RenderOptions& options = {});

/// One JSON object a line with rustc's members: message, code {code, explanation}, level, spans (file_name, byte_start,
/// byte_end, line_start, line_end, column_start, column_end, is_primary, text, label, suggested_replacement,
/// suggestion_applicability), children, rendered; added: pointer, exit_code. Columns count code points from 1 and
/// `column_end` is one past the last. The applicability is "MachineApplicable" or "MaybeIncorrect". `text` leaves
/// out lines of more than 4096 bytes and those with a hidden place. Ends with a line feed.
[[nodiscard]] std::string render_json(const Diagnostic& diagnostic, std::span<const Span> hidden = {});

/// All findings, one a line, each ending with a line feed; empty without findings.
[[nodiscard]] std::string render_json(const Diagnostics& diagnostics);

/// Whether text for a stream should be coloured: it is a terminal, NO_COLOR (`no_color`, may be null) is unset or
/// empty, and TERM (`term`, may be null) is not "dumb".
[[nodiscard]] bool want_color(bool is_terminal, const char* no_color, const char* term) noexcept;

}  // namespace tenon::core
