// Column widths and wrapping, counted in code points.
#include <host/table.hpp>

#include <algorithm>
#include <utility>

#include <core/text/source.hpp>

namespace tenon::host {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastWrapped = 24;  // A narrower last column is left unwrapped.

}  // namespace

Table::Column& Table::column(std::size_t index) {
  if (columns_.size() <= index) columns_.resize(index + 1);
  return columns_[index];
}

void Table::style(std::size_t index, Style style) { column(index).style = std::move(style); }

void Table::limit(std::size_t index, std::size_t width) { column(index).limit = width; }

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      const std::size_t width = core::count_code_points(row[i]);
      const std::size_t limit = i < columns_.size() ? columns_[i].limit : 0;
      if (limit == 0 || width <= limit) widths[i] = std::max(widths[i], width);
    }
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                        std::size_t width) const {
  const auto painted = [&](std::size_t index, std::string_view text) {
    const bool plain = text.empty() || index >= columns_.size() || !columns_[index].style;
    return plain ? std::string(text) : columns_[index].style(text);
  };
  std::size_t last = row.size();
  while (last > 0 && row[last - 1].empty()) --last;
  if (last == 0) return "";
  std::string line(indent_, ' ');
  std::size_t used = indent_;
  for (std::size_t i = 0; i + 1 < last; ++i) {
    const std::size_t length = core::count_code_points(row[i]);
    const bool breaks = breaks_ && length > widths[i];
    const std::size_t room = (breaks ? widths[i] : std::max(length, widths[i])) + kGap;
    used += room;
    line += painted(i, row[i]) + (breaks ? '\n' + std::string(used, ' ') : std::string(room - length, ' '));
  }
  const bool wrapped = width >= used + kLeastWrapped;
  const std::vector<std::string> pieces = wrap(row[last - 1], wrapped ? width - used : 0);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) line += '\n' + std::string(used, ' ');
    line += painted(last - 1, pieces[i]);
  }
  return line;
}

std::vector<std::string> Table::lines() const {
  const std::vector<std::size_t> widths = this->widths();
  std::vector<std::string> lines;
  for (const auto& row : rows_) lines.push_back(line(row, widths, 0));
  return lines;
}

std::string Table::render(std::size_t width) const {
  const std::vector<std::size_t> widths = this->widths();
  std::string out;
  for (const auto& row : rows_) out += line(row, widths, width) + '\n';
  return out;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  if (width == 0) {
    lines.front() = text;
    return lines;
  }
  std::size_t used = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t length = core::count_code_points(word);
    if (used > 0 && used + 1 + length > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) {
      lines.back() += ' ';
      ++used;
    }
    lines.back() += word;
    used += length;
  }
  return lines;
}

}  // namespace tenon::host
