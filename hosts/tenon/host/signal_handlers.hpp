// Handlers of signals for as long as something needs them.
#pragma once

#include <csignal>
#include <span>
#include <utility>
#include <vector>

namespace tenon::host {

/// Installs a handler; a signal that is ignored stays ignored, as nohup asks. Calls that it interrupts go on.
class SignalHandlers {
 public:
  SignalHandlers(std::span<const int> signals, void (*handler)(int));
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

  /// Gives the former handlers back.
  ~SignalHandlers();

 private:
  std::vector<std::pair<int, struct sigaction>> former_;
};

}  // namespace tenon::host
