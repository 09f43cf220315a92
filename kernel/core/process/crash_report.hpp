// From a crash to the sentence that explains it and to crash.json.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::core {

/// What is known of a crash when it happens.
struct Crash {
  std::string_view signal;  ///< "SIGSEGV"; empty for std::terminate and exit().
  std::string_view detail;  ///< "stack overflow", "integer division by zero"; empty when there is none.
  bool at_address = false;  ///< `address` is what the access was to.
  uintptr_t address = 0;
  bool exited = false;     ///< exit() or quick_exit() was called.
  bool exception = false;  ///< std::terminate found one.
  std::string_view type;   ///< Of the exception.
  std::string_view what;   ///< Of the exception, when it is a std::exception.
  /// Where the thread was, then the return addresses, innermost first; as many as could be found.
  std::span<const uintptr_t> frames;
};

/// Messages from here on are JSON lines, as those of the host that installs handlers.
void report_crashes_as_json(bool json) noexcept;

/// Says on standard error who crashed, in what, and what to do, and writes crash.json into the run directory. Uses the
/// breadcrumb and the label of the calling thread. Safe in a signal handler; once in a process.
void report_crash(const Crash& crash) noexcept;

}  // namespace tenon::core
