// A curve over training steps, drawn with characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::host {

struct PlotPoint {
  int64_t step = 0;
  double value = 0;
};

/// A step worth pointing at.
struct PlotMark {
  int64_t step = 0;
  std::string text;  ///< "end of warm-up"
};

struct PlotStyle {
  std::size_t width = 80;   ///< Columns of the whole drawing; less than 30 is taken as 30.
  std::size_t height = 12;  ///< Lines of the curve; less than 3 is taken as 3.
  bool unicode = true;      ///< Braille dots (2 × 4 a character) and lines; else plain ASCII.
};

/// The curve with both axes: values at the left, steps below, and one line a mark. `points` are by rising step; of many
/// in one column all are drawn, so that no peak is lost, and neighbours are joined. Values from 0 on where none is
/// negative. Values that are not finite are left out and told. No line is wider than the style says (but for the text of a
/// mark that is longer itself) or ends with a blank.
[[nodiscard]] std::string plot(const std::vector<PlotPoint>& points, const std::vector<PlotMark>& marks,
                               const PlotStyle& style);

/// The step at which a curve that begins by rising is at its top: the end of a warm-up. -1 where it does not begin so, or
/// only rises.
[[nodiscard]] int64_t end_of_warmup(const std::vector<PlotPoint>& points);

/// The user's locale takes UTF-8: by LC_ALL, else LC_CTYPE, else LANG.
[[nodiscard]] bool locale_is_utf8();

}  // namespace tenon::host
