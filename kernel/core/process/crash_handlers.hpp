// Explains crashes of plugins, which cannot be survived.
#pragma once

#include <array>
#include <csignal>
#include <exception>
#include <optional>

#include <core/process/alternate_stack.hpp>

// gcc says so by macros, clang by features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TENON_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENON_SANITIZED 1
#elif __has_feature(thread_sanitizer)
#define TENON_SANITIZED 1
#endif
#endif
#ifndef TENON_SANITIZED
#define TENON_SANITIZED 0
#endif

namespace tenon::core {

/// While it lives, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and std::terminate end the process with exit code 3 after a
/// report: which plugin, in which method of which node, on which sample and thread; see report_crash. So does exit()
/// when a plugin calls it. A signal that another process sent, and a crash of a forked child, end it as without
/// handlers. A crash while one is being handled ends the process at once.
///
/// What cannot be told: a stack overflow on a thread that a plugin starts itself, and any crash where a plugin has
/// blocked the signal or taken it for itself. A handler needs a stack of its own, which only the thread itself can set
/// up (sigaltstack), and the kernel passes a blocked signal by. Such a process ends as without handlers, by SIGSEGV (a
/// shell shows 139), with no message and no crash.json. Nor can _exit() and exec() be told: the process ends with the
/// code that they give. Checkpoints are as whole as ever.
///
/// Only hosts make one, around what opens plugins; the library itself never does. One at a time in a process: a second
/// one does nothing, as does one in a build with a sanitizer, which reports better.
class CrashHandlers {
 public:
  /// Whether this build, which is then one without a sanitizer, handles crashes at all.
  static constexpr bool kAvailable = !TENON_SANITIZED;

  CrashHandlers();
  CrashHandlers(const CrashHandlers&) = delete;
  CrashHandlers& operator=(const CrashHandlers&) = delete;

  /// Gives the former handlers back.
  ~CrashHandlers();

  [[nodiscard]] static bool installed() noexcept;

  /// To be called again whenever libraries were opened: what is to be done at exit is done in the reverse order of its
  /// registration, and exit() has to be told before globals go that other threads use. Nothing without handlers.
  static void watch_exit() noexcept;

 private:
  bool installed_ = false;
  std::array<struct sigaction, 5> former_{};
  std::terminate_handler former_terminate_ = nullptr;
  std::optional<AlternateStack> stack_;
};

}  // namespace tenon::core
