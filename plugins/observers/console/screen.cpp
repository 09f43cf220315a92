// Standard error as a terminal or as plain lines.
#include <console/screen.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <console/width.hpp>

namespace tenon::observers {
namespace {

constexpr std::size_t kBarColumns = 16;
constexpr std::size_t kLeastBarColumns = 4;
constexpr std::size_t kLeastColumnsWithBar = 40;
constexpr std::size_t kUsualColumns = 80;
constexpr std::string_view kGap = "  ";

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_set(const char* name) {
  const std::string_view value = environment(name);
  return !value.empty() && value != "0" && value != "false";
}

/// The locale's character set, by the order in which POSIX looks at the variables.
bool utf8_locale() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos || value.find("utf8") != std::string_view::npos;
  }
  return false;
}

/// What the terminal says now, else what COLUMNS says.
std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view told = environment("COLUMNS");
  std::size_t columns = 0;
  std::from_chars(told.data(), told.data() + told.size(), columns);
  return columns > 0 ? columns : kUsualColumns;
}

std::string repeated(std::string_view symbol, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += symbol;
  return text;
}

/// As many of the parts as fit into `columns`, of the first one what fits.
std::string fitted(std::span<const std::string> parts, std::size_t columns) {
  std::string text;
  for (const std::string& part : parts) {
    std::string more = text;
    if (!text.empty()) more += kGap;
    more += part;
    if (columns_of(more) > columns) break;
    text = std::move(more);
  }
  return text.empty() && !parts.empty() ? std::string(cut(parts.front(), columns)) : text;
}

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

Screen::Screen(bool live, bool colours) : live_(live), colours_(colours), unicode_(utf8_locale()) {}

bool Screen::is_terminal() {
  const std::string_view kind = environment("TERM");
  return ::isatty(STDERR_FILENO) == 1 && !kind.empty() && kind != "dumb" && !is_set("CI");
}

bool Screen::wants_colours() {
  if (!environment("NO_COLOR").empty()) return false;
  return is_set("CLICOLOR_FORCE") || (is_terminal() && environment("CLICOLOR") != "0");
}

std::string Screen::styled(std::string_view text, Style style) const {
  if (!colours_ || style == Style::kPlain || text.empty()) return std::string(text);
  const char* const code = style == Style::kDim ? "\x1b[2m" : style == Style::kBold ? "\x1b[1m" : "\x1b[32m";
  return code + std::string(text) + "\x1b[0m";
}

/// A terminal that became narrower since has broken the line into rows.
std::string Screen::erased() const {
  const std::size_t rows = drawn_ == 0 ? 1 : (drawn_ - 1) / terminal_columns() + 1;
  if (rows == 1) return "\r\x1b[2K";
  return "\r\x1b[" + std::to_string(rows - 1) + "A\x1b[J";
}

void Screen::write(const std::string& text) {
  put(drawn_ > 0 ? erased() + text : text);
  drawn_ = 0;
}

void Screen::draw(double share, std::span<const std::string> parts) {
  const std::size_t room = terminal_columns() - 1;  // behind the last column some terminals begin a new row
  const std::string erase = erased();
  if (room < kLeastColumnsWithBar) {
    const std::string text = fitted(parts, room);
    drawn_ = std::max<std::size_t>(columns_of(text), 1);
    return put(erase + text);
  }
  const std::string text = fitted(parts, room - kLeastBarColumns - kGap.size());
  const std::size_t bar = std::min(kBarColumns, room - kGap.size() - columns_of(text));
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(bar)));
  const std::string done = repeated(unicode_ ? "━" : "#", filled);
  const std::string rest = repeated(unicode_ ? "─" : ".", bar - filled);
  drawn_ = bar + kGap.size() + columns_of(text);
  put(erase + styled(done, Style::kGood) + styled(rest, Style::kDim) + std::string(kGap) + text);
}

}  // namespace tenon::observers
