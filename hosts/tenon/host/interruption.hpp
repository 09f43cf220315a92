// Ctrl-C for commands that have processes to end and folders to remove before they go.
#pragma once

#include <optional>

#include <host/signal_handlers.hpp>

namespace tenon::host {

/// While it lives, SIGINT, SIGTERM and SIGHUP are noted instead of ending the process; one that was ignored stays
/// ignored. One at a time in a process.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The first signal that came, 0 for none.
  [[nodiscard]] static int signal() noexcept;

 private:
  std::optional<SignalHandlers> handlers_;
};

}  // namespace tenon::host
