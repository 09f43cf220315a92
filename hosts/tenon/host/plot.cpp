// A grid of dots, two axes, and what stands below them.
#include <host/plot.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <core/text/source.hpp>

namespace tenon::host {
namespace {

constexpr std::size_t kLeastWidth = 30;
constexpr std::size_t kLeastHeight = 3;

/// Dots of the drawing; (0, 0) is at the top left.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows, bool braille)
      : braille_(braille), columns_(columns), rows_(rows), dots_(columns * rows, 0) {}

  [[nodiscard]] int64_t width() const noexcept { return static_cast<int64_t>(columns_) * (braille_ ? 2 : 1); }
  [[nodiscard]] int64_t height() const noexcept { return static_cast<int64_t>(rows_) * (braille_ ? 4 : 1); }

  void set(int64_t x, int64_t y) {
    // Unicode numbers the dots of a Braille cell column by column, with the lowest row behind.
    constexpr std::array<std::array<unsigned char, 2>, 4> kBits{
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    const int64_t across = braille_ ? 2 : 1;
    const int64_t down = braille_ ? 4 : 1;
    const auto cell = static_cast<std::size_t>(y / down) * columns_ + static_cast<std::size_t>(x / across);
    const unsigned char bit = kBits[static_cast<std::size_t>(y % down)][static_cast<std::size_t>(x % across)];
    dots_[cell] = static_cast<unsigned char>(dots_[cell] | bit);
  }

  /// A straight line without gaps.
  void join(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
    const auto count = std::max<int64_t>({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int64_t i = 0; i <= count; ++i) {
      const double part = static_cast<double>(i) / static_cast<double>(count);
      set(x0 + std::llround(static_cast<double>(x1 - x0) * part),
          y0 + std::llround(static_cast<double>(y1 - y0) * part));
    }
  }

  [[nodiscard]] std::string row(std::size_t index) const {
    std::string text;
    for (std::size_t i = 0; i < columns_; ++i) {
      const unsigned char dots = dots_[index * columns_ + i];
      if (dots == 0) {
        text += ' ';
      } else if (braille_) {
        // U+2800 to U+28FF
        text += {'\xe2', static_cast<char>(0xa0 | (dots >> 6)), static_cast<char>(0x80 | (dots & 0x3f))};
      } else {
        text += '*';
      }
    }
    return text;
  }

 private:
  bool braille_;
  std::size_t columns_;
  std::size_t rows_;
  std::vector<unsigned char> dots_;
};

/// What is drawn, and where it lies between the ends of both axes.
struct Range {
  int64_t first = 0;
  int64_t last = 0;
  double low = 0;
  double high = 0;

  /// Position of a step among `count` places.
  [[nodiscard]] int64_t across(int64_t step, int64_t count) const {
    if (last == first) return 0;
    const double part = static_cast<double>(step - first) / static_cast<double>(last - first);
    return std::clamp<int64_t>(std::llround(part * static_cast<double>(count - 1)), 0, count - 1);
  }

  /// Position of a value from the top.
  [[nodiscard]] int64_t down(double value, int64_t count) const {
    return std::llround((high - value) / (high - low) * static_cast<double>(count - 1));
  }
};

Range range_of(const std::vector<PlotPoint>& points) {
  Range range{points.front().step, points.back().step, points.front().value, points.front().value};
  for (const PlotPoint& point : points) {
    range.low = std::min(range.low, point.value);
    range.high = std::max(range.high, point.value);
  }
  if (range.low >= 0) range.low = 0;
  if (range.low == range.high) range.high = range.low + 1;
  return range;
}

std::string value_label(double value) { return fmt::format("{:.4g}", value); }

/// The largest of 1, 2, 5, 10, 20, … of which at most `most` lie in the stretch, or more where even one does not fit.
int64_t tick_distance(int64_t stretch, int64_t most) {
  int64_t unit = 1;
  while (true) {
    for (const int64_t factor : {1, 2, 5}) {
      if (stretch / (unit * factor) <= most) return unit * factor;
    }
    unit *= 10;
  }
}

/// Text at a place of a line that is long enough for it.
void put(std::string& line, std::size_t at, std::string_view text) {
  if (line.size() < at + text.size()) line.resize(at + text.size(), ' ');
  line.replace(at, text.size(), text);
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// Steps with a label, the ends first; labels do not touch each other.
struct Ticks {
  std::vector<std::size_t> columns;
  std::string labels;  ///< The line below the axis, from its first column on.
};

Ticks make_ticks(const Range& range, std::size_t columns) {
  Ticks ticks;
  std::vector<std::pair<std::size_t, std::size_t>> taken;
  const auto place = [&](int64_t step) {
    const std::string label = fmt::format("{}", step);
    const auto column = static_cast<std::size_t>(range.across(step, static_cast<int64_t>(columns)));
    const std::size_t half = label.size() / 2;
    const std::size_t latest = columns > label.size() ? columns - label.size() : 0;
    const std::size_t begin = std::min(column > half ? column - half : 0, latest);
    const std::size_t end = begin + label.size();
    for (const auto& [from, to] : taken) {
      if (begin < to + 2 && from < end + 2) return;
    }
    taken.emplace_back(begin, end);
    ticks.columns.push_back(column);
    put(ticks.labels, begin, label);
  };
  place(range.first);
  place(range.last);
  const int64_t distance =
      tick_distance(range.last - range.first, std::max<int64_t>(static_cast<int64_t>(columns) / 12, 1));
  for (int64_t step = (range.first / distance + 1) * distance; step < range.last; step += distance) place(step);
  return ticks;
}

/// "^ end of warm-up (step 50)", or its mirror image where the text would leave the drawing.
std::string mark_line(const PlotMark& mark, const Range& range, std::size_t margin, std::size_t columns, bool unicode) {
  const std::string text = fmt::format("{} (step {})", mark.text, mark.step);
  const std::size_t column = margin + static_cast<std::size_t>(range.across(mark.step, static_cast<int64_t>(columns)));
  const std::string_view arrow = unicode ? "▲" : "^";
  const std::size_t length = core::count_code_points(text);
  if (column + 2 + length <= margin + columns || length + 1 > column) {
    return fmt::format("{}{} {}\n", std::string(column, ' '), arrow, text);
  }
  return fmt::format("{}{} {}\n", std::string(column - length - 1, ' '), text, arrow);
}

}  // namespace

std::string plot(const std::vector<PlotPoint>& points, const std::vector<PlotMark>& marks, const PlotStyle& style) {
  std::vector<PlotPoint> finite;
  std::copy_if(points.begin(), points.end(), std::back_inserter(finite),
               [](const PlotPoint& point) { return std::isfinite(point.value); });
  const std::size_t left_out = points.size() - finite.size();
  const std::string note =
      left_out == 0 ? "" : fmt::format("not finite and left out: {} of {} values\n", left_out, points.size());
  if (finite.empty()) return note.empty() ? "there is nothing to draw\n" : note;

  const Range range = range_of(finite);
  const std::size_t rows = std::max(style.height, kLeastHeight);
  std::vector<std::string> labels(rows);
  for (const std::size_t row : {std::size_t{0}, (rows - 1) / 2, rows - 1}) {
    const double part = static_cast<double>(row) / static_cast<double>(rows - 1);
    labels[row] = value_label(range.high - (range.high - range.low) * part);
  }
  const std::size_t label_width = std::ranges::max_element(labels, {}, &std::string::size)->size();
  const std::size_t margin = label_width + 2;  // a blank and the axis
  const std::size_t width = std::max(style.width, kLeastWidth);
  const std::size_t columns = width > margin + 8 ? width - margin : 8;

  Canvas canvas(columns, rows, style.unicode);
  const auto at = [&](const PlotPoint& point) {
    return std::pair(range.across(point.step, canvas.width()), range.down(point.value, canvas.height()));
  };
  auto [x, y] = at(finite.front());
  for (const PlotPoint& point : finite) {
    const auto [next_x, next_y] = at(point);
    canvas.join(x, y, next_x, next_y);
    x = next_x;
    y = next_y;
  }

  std::string out;
  for (std::size_t row = 0; row < rows; ++row) {
    const bool labelled = !labels[row].empty();
    const std::string_view axis = style.unicode ? (labelled ? "┤" : "│") : (labelled ? "+" : "|");
    out += trimmed(fmt::format("{:>{}} {}{}", labels[row], label_width, axis, canvas.row(row))) + '\n';
  }
  const Ticks ticks = make_ticks(range, columns);
  std::string axis;
  for (std::size_t i = 0; i < columns; ++i) {
    const bool tick = std::find(ticks.columns.begin(), ticks.columns.end(), i) != ticks.columns.end();
    axis += style.unicode ? (tick ? "┬" : "─") : (tick ? "+" : "-");
  }
  out += fmt::format("{}{}{}\n", std::string(margin - 1, ' '), style.unicode ? "└" : "+", axis);
  out += trimmed(std::string(margin, ' ') + ticks.labels) + '\n';
  for (const PlotMark& mark : marks) out += mark_line(mark, range, margin, columns, style.unicode);
  return out + note;
}

int64_t end_of_warmup(const std::vector<PlotPoint>& points) {
  std::size_t top = 0;
  while (top + 1 < points.size() && points[top + 1].value > points[top].value) ++top;
  return top == 0 || top + 1 == points.size() ? -1 : points[top].step;
}

bool locale_is_utf8() {
  for (const char* const variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string name(value);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace tenon::host
