// Where the console writes: standard error, as a terminal with a live last line or as plain lines.
#pragma once

#include <string>
#include <string_view>

namespace tenon::observers {

enum class Style { kPlain, kDim, kBold, kGood };

/// Lines of text and, in live mode, one progress line below them that is redrawn in place.
class Screen {
 public:
  /// `live`: use the progress line. Colours need a terminal and no NO_COLOR in the environment; blocks of Unicode need a
  /// UTF-8 locale.
  explicit Screen(bool live);

  /// True when standard error is a terminal that can move its cursor.
  [[nodiscard]] static bool is_terminal();

  [[nodiscard]] bool live() const noexcept { return live_; }

  /// `text` in a style, or as it is where there are no colours.
  [[nodiscard]] std::string styled(std::string_view text, Style style) const;

  /// Takes the progress line away and writes `text` where it was.
  void write(const std::string& text);

  /// Draws the progress line: a bar filled to `share` (0 to 1), then the parts of `text`, which two blanks separate, that
  /// fit into the terminal's width. Live mode only.
  void draw(double share, std::string_view text);

 private:
  bool live_;
  bool colours_;
  bool unicode_;
  bool drawn_ = false;
};

}  // namespace tenon::observers
