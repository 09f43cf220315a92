// Drawn ten times a second at most.
#include <host/progress_line.hpp>

#include <unistd.h>
#include <cstdio>

#include <fmt/format.h>

#include <host/run_summary.hpp>

namespace tenon::host {
namespace {

constexpr std::chrono::milliseconds kInterval{100};
constexpr double kEarly = 1;  // seconds after which a guess of the rest is worth something

}  // namespace

ProgressLine::ProgressLine() : live_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& what, int64_t done, int64_t total) {
  if (!live_) return;
  const auto now = std::chrono::steady_clock::now();
  if (what != what_) {
    what_ = what;
    begin_ = now;
  } else if (shown_ && now - drawn_ < kInterval && done < total) {
    return;
  }
  drawn_ = now;
  shown_ = true;
  const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const std::string left = seconds > kEarly && share > 0 && share < 1
                               ? fmt::format(", {} left", duration(seconds * (1 - share) / share))
                               : "";
  fmt::print(stderr, "\r\x1b[2K{}  {} of {} samples, {:.0f} %{}", what, done, total, 100 * share, left);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!shown_) return;
  shown_ = false;
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
}

}  // namespace tenon::host
