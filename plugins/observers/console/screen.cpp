// Standard error as a terminal or as plain lines.
#include <console/screen.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tenon::observers {
namespace {

constexpr std::size_t kBarColumns = 16;
constexpr const char* kErase = "\r\x1b[2K";

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
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

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string repeated(std::string_view symbol, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += symbol;
  return text;
}

/// As many of the parts of `text`, which two blanks separate, as fit into `columns`.
std::string_view fitted(std::string_view text, std::size_t columns) {
  if (text.size() <= columns) return text;
  const std::size_t cut = text.rfind("  ", columns);
  return text.substr(0, cut == std::string_view::npos ? 0 : cut);
}

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

Screen::Screen(bool live)
    : live_(live), colours_(is_terminal() && environment("NO_COLOR").empty()), unicode_(utf8_locale()) {}

bool Screen::is_terminal() {
  const std::string_view kind = environment("TERM");
  return ::isatty(STDERR_FILENO) == 1 && !kind.empty() && kind != "dumb";
}

std::string Screen::styled(std::string_view text, Style style) const {
  if (!colours_ || style == Style::kPlain) return std::string(text);
  const char* const code = style == Style::kDim ? "\x1b[2m" : style == Style::kBold ? "\x1b[1m" : "\x1b[32m";
  return code + std::string(text) + "\x1b[0m";
}

void Screen::write(const std::string& text) {
  put(drawn_ ? kErase + text : text);
  drawn_ = false;
}

void Screen::draw(double share, std::string_view text) {
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBarColumns));
  const std::string done = repeated(unicode_ ? "━" : "#", filled);
  const std::string rest = repeated(unicode_ ? "─" : ".", kBarColumns - filled);
  const std::size_t columns = terminal_columns();
  const std::size_t room = columns > kBarColumns + 3 ? columns - kBarColumns - 3 : 0;  // two blanks, one column free
  put(kErase + styled(done, Style::kGood) + styled(rest, Style::kDim) + "  " + std::string(fitted(text, room)));
  drawn_ = true;
}

}  // namespace tenon::observers
