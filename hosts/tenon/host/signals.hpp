// Signals that end a run early: the first one asks, the second one ends the process.
#pragma once

#include <optional>

#include <engine/engine.hpp>
#include <host/signal_handlers.hpp>

namespace tenon::host {

/// While it lives, the first SIGTERM, SIGINT, SIGUSR1 or SIGHUP is noted for the run, which saves and ends; at the second one the
/// process ends at once, as if nothing had caught it. One that was ignored when the program began stays ignored. One at
/// a time in a process.
class RunSignals {
 public:
  RunSignals();
  RunSignals(const RunSignals&) = delete;
  RunSignals& operator=(const RunSignals&) = delete;

  /// Gives the former handlers back.
  ~RunSignals();

  [[nodiscard]] engine::Interruption& interruption() noexcept { return interruption_; }

 private:
  engine::Interruption interruption_;
  std::optional<SignalHandlers> handlers_;
};

}  // namespace tenon::host
