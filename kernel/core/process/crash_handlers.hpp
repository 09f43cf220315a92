// Explains crashes of plugins, which cannot be survived.
#pragma once

#include <array>
#include <csignal>
#include <exception>
#include <optional>

#include <core/process/alternate_stack.hpp>

namespace tenon::core {

/// While it lives, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and std::terminate end the process with exit code 3 after a
/// report: which plugin, in which method of which node, on which sample and thread; see report_crash. A signal that
/// another process sent, and a crash of a forked child, end it as without handlers. A crash while one is being handled
/// ends the process at once.
///
/// Only hosts make one, around what opens plugins; the library itself never does. One at a time in a process: a second
/// one does nothing, as does one in a build with a sanitizer, which reports better.
class CrashHandlers {
 public:
  CrashHandlers();
  CrashHandlers(const CrashHandlers&) = delete;
  CrashHandlers& operator=(const CrashHandlers&) = delete;

  /// Gives the former handlers back.
  ~CrashHandlers();

  [[nodiscard]] static bool installed() noexcept;

 private:
  bool installed_ = false;
  std::array<struct sigaction, 5> former_{};
  std::terminate_handler former_terminate_ = nullptr;
  std::optional<AlternateStack> stack_;
};

}  // namespace tenon::core
