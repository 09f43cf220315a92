// Where the console writes: standard error, as a terminal with a live last line or as plain lines.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tenon::observers {

enum class Style { kPlain, kDim, kBold, kGood };

/// Lines of text and, in live mode, one progress line below them that is redrawn in place.
class Screen {
 public:
  /// `live`: use the progress line, drawn with blocks of Unicode where the locale is a UTF-8 one.
  Screen(bool live, bool colours);

  /// True when standard error is a terminal that can move its cursor, and somebody sits before it: not under
  /// continuous integration (CI in the environment).
  [[nodiscard]] static bool is_terminal();

  /// What the environment says of colours: NO_COLOR and CLICOLOR=0 forbid them, CLICOLOR_FORCE asks for them, and
  /// otherwise a terminal has them.
  [[nodiscard]] static bool wants_colours();

  [[nodiscard]] bool live() const noexcept { return live_; }

  /// `text` in a style, or as it is where there are no colours.
  [[nodiscard]] std::string styled(std::string_view text, Style style) const;

  /// Takes the progress line away and writes `text` where it was.
  void write(const std::string& text);

  /// Draws the progress line into the terminal's present width: a bar filled to `share` (0 to 1), then the first of
  /// `parts`, the most important ones first, as many as fit. Live mode only.
  void draw(double share, std::span<const std::string> parts);

 private:
  [[nodiscard]] std::string erased() const;

  bool live_;
  bool colours_;
  bool unicode_;
  std::size_t drawn_ = 0;  // columns of the progress line that stands there
};

}  // namespace tenon::observers
