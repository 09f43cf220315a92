// Lines, columns and code points of a text.
#include <core/text/source.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tenon::core {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::vector<std::size_t> find_line_starts(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'))) starts.push_back(i + 1);
  }
  return starts;
}

bool is_ascii(std::string_view text) noexcept {
  unsigned high = 0;
  for (const char c : text) high |= static_cast<unsigned char>(c);
  return high < 0x80;
}

bool is_continuation(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

std::size_t code_point_length(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F;
  const bool too_large = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

std::size_t count_code_points(std::string_view text) noexcept {
  if (is_ascii(text)) return text.size();
  std::size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(std::max<std::size_t>(code_point_length(text), 1));
    ++count;
  }
  return count;
}

Source::Source(std::string path, std::string text, Kind kind)
    : path_(std::move(path)),
      text_(std::move(text)),
      line_starts_(find_line_starts(text_)),
      ascii_(is_ascii(text_)),
      kind_(kind) {}

std::size_t Source::line_of(std::size_t offset) const noexcept {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), std::min(offset, text_.size()));
  return static_cast<std::size_t>(next - line_starts_.begin());
}

Position Source::position(std::size_t offset) const noexcept {
  offset = std::min(offset, text_.size());
  const std::size_t number = line_of(offset);
  const std::size_t begin = line_begin(number);
  if (offset <= begin) return {number, 1};
  if (ascii_) return {number, 1 + offset - begin};
  for (std::size_t back = 1; back < 4 && offset < text_.size() && offset >= begin + back; ++back) {
    if (code_point_length(text().substr(offset - back)) > back) {
      offset -= back;
      break;
    }
  }
  return {number, 1 + count_code_points(text().substr(begin, offset - begin))};
}

std::size_t Source::line_begin(std::size_t number) const noexcept {
  if (number == 0 || number > line_starts_.size()) return text_.size();
  return number == 1 && text().substr(0, 3) == kByteOrderMark ? kByteOrderMark.size() : line_starts_[number - 1];
}

std::string_view Source::line(std::size_t number) const noexcept {
  const std::size_t begin = line_begin(number);
  const std::size_t end = number < line_starts_.size() ? line_starts_[number] : text_.size();
  std::string_view line = text().substr(begin, end - begin);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

std::string_view Span::text() const noexcept {
  if (!source) return {};
  const std::string_view all = source->text();
  const std::size_t first = std::min(begin, all.size());
  return all.substr(first, std::min(std::max(end, first), all.size()) - first);
}

Position Span::position() const noexcept { return source ? source->position(begin) : Position{}; }

std::string Span::describe() const {
  if (!source) return {};
  if (source->kind() == Source::Kind::kArgument) {
    const std::string_view path = source->text().substr(0, source->text().find('='));
    const bool has_value = path.size() < source->text().size();
    return fmt::format("{} {}{}", source->path(), path, has_value ? "=…" : "");
  }
  const Position at = position();
  return fmt::format("{}:{}:{}", source->path(), at.line, at.column);
}

}  // namespace tenon::core
