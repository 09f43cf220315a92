// Colour, width and buffering of the two streams.
#include <host/console.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include <core/process/crash_report.hpp>
#include <core/text/error_words.hpp>
#include <core/text/render.hpp>

namespace tenon::host {
namespace {

std::string_view environment(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool colored(ColorChoice choice, int stream) noexcept {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  const std::string_view forced = environment("CLICOLOR_FORCE");
  if (!forced.empty() && forced != "0") return environment("NO_COLOR").empty();
  if (environment("CLICOLOR") == "0") return false;
  return core::want_color(isatty(stream) == 1, std::getenv("NO_COLOR"), std::getenv("TERM"));
}

void write_error(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

std::string Paint::wrap(std::string_view style, std::string_view text) const {
  return on && !text.empty() ? fmt::format("{}{}\x1b[0m", style, text) : std::string(text);
}

void Console::set_color(ColorChoice choice) noexcept {
  out_color_ = colored(choice, STDOUT_FILENO);
  error_color_ = colored(choice, STDERR_FILENO);
}

void Console::set_json(bool json) noexcept {
  json_ = json;
  core::report_crashes_as_json(json);
}

std::size_t Console::width() const noexcept {
  if (isatty(STDOUT_FILENO) != 1) return 0;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return std::clamp<std::size_t>(size.ws_col, 20, 140);
}

void Console::print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && write_error_ == 0) write_error_ = errno;
}

void Console::complain(std::string_view text) {
  if (!quiet_) insist(text);
}

void Console::insist(std::string_view text) {
  if (!json_) return write_error(text);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    if (begin < line.size()) report(core::Severity::kNote, "", line.substr(begin));
  }
}

void Console::report(const core::Diagnostics& findings, std::string_view outcome) {
  write_error(json_ ? core::render_json(findings) : core::render_text(findings, {error_color_, outcome}));
}

void Console::report(const core::Diagnostic& finding) {
  write_error(json_ ? core::render_json(finding) : core::render_text(finding, {error_color_, {}}));
}

void Console::report(core::Severity severity, std::string_view code, std::string_view message, ErrorCode error_code) {
  core::Diagnostic finding;
  finding.severity = severity;
  finding.code = code;
  finding.message = message;
  finding.error_code = error_code;
  report(finding);
}

int Console::flush() {
  if (std::fflush(stdout) != 0 && write_error_ == 0) write_error_ = errno;
  if (write_error_ == 0) return 0;
  report(core::Severity::kError, core::error_word(ErrorCode::kStorage),
         fmt::format("cannot write to standard output: {}", std::strerror(write_error_)), ErrorCode::kStorage);
  write_error_ = 0;
  return exit_code(ErrorCode::kStorage);
}

}  // namespace tenon::host
