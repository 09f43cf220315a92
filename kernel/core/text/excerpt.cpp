// Makes source lines fit for a terminal.
#include <core/text/excerpt.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tenon::core {
namespace {

constexpr std::size_t kWindow = 2048;    // Bytes of a line before and behind the mark that are looked at.
constexpr std::size_t kWidest = 160;     // A longer line is cut to this many columns.
constexpr std::size_t kLeftMargin = 40;  // Columns kept before the mark of a line that is cut on its left.

/// The characters that the terminal shows for a line, and for each byte of it the column where it is shown.
struct Cells {
  std::vector<std::string_view> shown;
  std::vector<std::size_t> columns;  // One more than the line has bytes.
};

/// Bytes from `begin` on, to its line's end at most, that lie in hidden places which cover `begin`.
std::size_t hidden_bytes(const Source& source, std::size_t begin, std::size_t end, std::span<const Span> hidden) {
  std::size_t last = begin;
  for (const Span& each : hidden) {
    if (each.source.get() == &source && each.begin <= begin && begin < each.end) last = std::max(last, each.end);
  }
  return std::min(last, end) - begin;
}

/// `line` begins at the byte `begin` of the source.
Cells make_cells(std::string_view line, const Source& source, std::size_t begin, std::span<const Span> hidden) {
  Cells cells;
  const std::size_t end = begin + line.size();
  while (!line.empty()) {
    if (const std::size_t covered = hidden_bytes(source, end - line.size(), end, hidden); covered > 0) {
      cells.columns.insert(cells.columns.end(), covered, cells.shown.size());
      cells.shown.insert(cells.shown.end(), 3, "*");
      line.remove_prefix(covered);
      continue;
    }
    const std::size_t length = code_point_length(line);
    const auto byte = static_cast<unsigned char>(line.front());
    const std::size_t bytes = std::max<std::size_t>(length, 1);
    cells.columns.insert(cells.columns.end(), bytes, cells.shown.size());
    if (line.front() == '\t') {
      cells.shown.insert(cells.shown.end(), 4, " ");
    } else {
      cells.shown.push_back(length == 0 || byte < 0x20 || byte == 0x7F ? "·" : line.substr(0, bytes));
    }
    line.remove_prefix(bytes);
  }
  cells.columns.push_back(cells.shown.size());
  return cells;
}

}  // namespace

Excerpt make_excerpt(const Span& span, std::span<const Span> hidden) {
  const std::size_t number = span.position().line;
  std::string_view line = span.source->line(number);
  std::size_t origin = span.source->line_begin(number);
  // Of a line of megabytes only the part around the mark matters.
  const std::size_t at = std::min(span.begin > origin ? span.begin - origin : 0, line.size());
  const std::size_t skipped = at > 2 * kWindow ? at - kWindow : 0;
  const bool goes_on = line.size() - at > 2 * kWindow;
  line = line.substr(skipped, goes_on ? at - skipped + kWindow : std::string_view::npos);
  origin += skipped;
  const auto column_of = [&](const Cells& cells, std::size_t offset) {
    return cells.columns[std::min(offset > origin ? offset - origin : 0, line.size())];
  };

  const Cells cells = make_cells(line, *span.source, origin, hidden);
  Excerpt excerpt;
  excerpt.mark = column_of(cells, span.begin);
  excerpt.length = std::max<std::size_t>(column_of(cells, span.end), excerpt.mark + 1) - excerpt.mark;

  std::size_t first = 0;
  std::size_t last = cells.shown.size();
  if (last > kWidest) {
    if (excerpt.mark + std::min(excerpt.length, kLeftMargin) > kWidest) first = excerpt.mark - kLeftMargin;
    last = std::min(last, first + kWidest);
  }
  if (first > 0 || skipped > 0) excerpt.text += "…";
  for (std::size_t i = first; i < last; ++i) excerpt.text += cells.shown[i];
  if (last < cells.shown.size() || goes_on) excerpt.text += "…";
  excerpt.length = std::min(excerpt.length, std::max(last, excerpt.mark + 1) - excerpt.mark);
  if (first > 0) excerpt.mark -= first - 1;
  return excerpt;
}

}  // namespace tenon::core
