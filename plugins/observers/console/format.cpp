// Numbers and durations as people read them.
#include <console/format.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace tenon::observers {
namespace {

[[gnu::format(printf, 1, 2)]] std::string printed(const char* format, ...) {
  std::array<char, 64> text{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return text.data();
}

}  // namespace

std::string number_text(double value) {
  const double size = std::abs(value);
  if (!(size >= 1e-3 && size < 1e6)) return printed("%.3g", value);
  const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(size))), 0, 6);
  return printed("%.*f", decimals, value);
}

std::string duration_text(double seconds) {
  if (seconds < 9.95) return printed("%.1f s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 60) return printed("%lld s", whole);
  if (whole < 3600) return printed("%lld min %02lld s", whole / 60, whole % 60);
  return printed("%lld h %02lld min", whole / 3600, whole % 3600 / 60);
}

std::string count_text(int64_t count, int64_t of) {
  const std::string total = std::to_string(of);
  std::string text = std::to_string(count);
  if (text.size() < total.size()) text.insert(0, total.size() - text.size(), ' ');
  return text + "/" + total;
}

}  // namespace tenon::observers
