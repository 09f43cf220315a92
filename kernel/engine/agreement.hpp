// What all ranks of a run decide together.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <engine/engine.hpp>
#include <tenon/components/distributed.hpp>

namespace tenon::engine {

/// The greatest of all ranks for each value, in place: one small collective, none with one rank. [trainer]
void agree(Collectives& ranks, std::span<int64_t> values);

/// The sum of all ranks for each value, in place. Likewise.
void add_up(Collectives& ranks, std::span<int64_t> values);

/// The root's text on every rank. [trainer]
[[nodiscard]] std::string broadcast_text(Collectives& ranks, const std::string& text, int64_t root = 0);

/// Thrown when the run is to save what it has and end. No error: it passes through the engine and does not leave it.
struct Interrupted {
  int signal = 0;
};

/// Looks at the wish to end early. [trainer]
class InterruptionPoll {
 public:
  /// `interruption` may be nullptr.
  InterruptionPoll(const Interruption* interruption, Collectives& ranks) : interruption_(interruption), ranks_(ranks) {}

  /// What this rank has heard: a signal, or 0.
  [[nodiscard]] int heard() const noexcept { return interruption_ == nullptr ? 0 : interruption_->signal(); }

  /// Called by all ranks at the same place. \throws Interrupted on all when any has heard a signal.
  void together() const;

  /// For while one waits: throws Interrupted when a signal was heard. Empty with several ranks, since one alone may not
  /// leave.
  [[nodiscard]] std::function<void()> while_waiting() const;

 private:
  const Interruption* interruption_;
  Collectives& ranks_;
};

}  // namespace tenon::engine
