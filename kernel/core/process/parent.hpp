// How a program of ours ends with the one that started it, also where that is killed. The C library alone; the
// conformance program, which knows nothing of the kernel, does the same.
#pragma once

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace tenon::core {

/// The variable by which run_child() tells its child the number of its own process.
inline constexpr const char* kParentVariable = "TENON_PARENT";

/// To be called first of all in main(). Where run_child() started this program, the system kills it from then on as soon
/// as the thread that waits for it is gone: one that was killed cannot end it. Does nothing in a program that others
/// started. Takes the variable out of the environment, so that what this program starts is not bound to it.
inline void end_with_parent() noexcept {
  const char* const parent = std::getenv(kParentVariable);
  if (parent == nullptr) return;
  const auto expected = std::strtol(parent, nullptr, 10);
  ::unsetenv(kParentVariable);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != expected) std::raise(SIGKILL);  // it went before the system was told
}

}  // namespace tenon::core
