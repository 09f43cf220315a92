// Asked of the C library and the processor.
#include <core/process/process_state.hpp>

#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <clocale>
#include <filesystem>
#include <locale>
#include <system_error>

#include <fmt/format.h>

namespace tenon::core {
namespace {

/// Rounding, traps, and whether numbers near zero are taken for zero; the flags of past operations do not count.
uint64_t floating_point() noexcept {
#if defined(__x86_64__)
  constexpr unsigned kFlags = 0x3f;
  return __builtin_ia32_stmxcsr() & ~kFlags;
#elif defined(__aarch64__)
  return __builtin_aarch64_get_fpcr();
#endif
}

std::string locale() {
  const char* const name = std::setlocale(LC_ALL, nullptr);
  return fmt::format("{} {}", name == nullptr ? "" : name, std::locale().name());
}

}  // namespace

ProcessState::ProcessState() : floating_point_(floating_point()), locale_(locale()) {
  sigset_t blocked;
  sigemptyset(&blocked);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action = {};
    ::sigaction(kSignals[i], nullptr, &action);
    handlers_[i] = reinterpret_cast<uintptr_t>(action.sa_handler);
    blocked_[i] = sigismember(&blocked, kSignals[i]) == 1;
  }
  std::error_code ignored;
  folder_ = std::filesystem::current_path(ignored).string();
  const mode_t mask = ::umask(0);
  ::umask(mask);
  mask_of_files_ = mask;
  itimerval timer = {};
  ::getitimer(ITIMER_REAL, &timer);
  has_timer_ = timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
}

std::vector<std::string> ProcessState::changes(const ProcessState& later) const {
  std::vector<std::string> found;
  if (floating_point_ != later.floating_point_) {
    found.emplace_back(
        "how the processor rounds, traps, or takes numbers near zero (linking with -ffast-math or -Ofast does so)");
  }
  if (locale_ != later.locale_) found.emplace_back("the locale, and so how numbers are read and written");
  if (handlers_ != later.handlers_) found.emplace_back("handlers of signals, which are the host's");
  if (blocked_ != later.blocked_) found.emplace_back("which signals are let through");
  if (folder_ != later.folder_) found.emplace_back("the current folder");
  if (mask_of_files_ != later.mask_of_files_) found.emplace_back("the permissions of new files (umask)");
  if (has_timer_ != later.has_timer_) found.emplace_back("the timer whose signal ends the process (alarm, setitimer)");
  return found;
}

}  // namespace tenon::core
