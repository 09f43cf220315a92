// What happens in a run, told to the log and to observers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <core/storage/event_log.hpp>
#include <core/storage/run_directory.hpp>
#include <engine/components.hpp>
#include <tenon/components/observer.hpp>

namespace tenon::engine {

/// An event that owns its text and values.
struct OwnedEvent {
  Event event;  ///< Its spans and strings are set when it is handed out.
  std::vector<std::pair<std::string, double>> values;
  std::string text;
};

/// An observer, its name for people, and what crash reports call it.
struct Listener {
  std::string name;
  Observer* observer = nullptr;
  const core::Callee* callee = nullptr;
};

/// Hands events to observers on a thread of its own. Bounded: when observers are too slow, events of training steps are
/// dropped, and counted. [trainer]
class ObserverThread {
 public:
  /// The observers outlive this object.
  explicit ObserverThread(std::vector<Listener> observers);
  ObserverThread(const ObserverThread&) = delete;
  ObserverThread& operator=(const ObserverThread&) = delete;

  /// Joins; call drain() before. Events that were not handed out by then are lost.
  ~ObserverThread();

  void post(OwnedEvent event);

  /// Waits until all events so far were handed out; false when an observer did not come back within `seconds`.
  bool drain(double seconds);

  /// What observers threw, once for each, and how many events were dropped.
  [[nodiscard]] std::vector<std::string> problems();

 private:
  struct State;
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

/// The one place that tells what happens: first the log, which is the truth, then the observers. [trainer]
class Events {
 public:
  /// Tells nobody: for ranks other than the first.
  Events() = default;

  /// All outlive it.
  Events(const core::RunDirectory& directory, core::EventLog& log, ObserverThread& observers, int64_t planned,
         int64_t epochs);

  /// Where training stands; part of every event that follows.
  void at(int64_t step, int64_t epoch) {
    step_ = step;
    epoch_ = epoch;
  }

  /// Seconds since construction, and what the rest may take (negative: unknown).
  [[nodiscard]] double elapsed() const;
  void set_remaining(double seconds) { remaining_ = seconds; }
  void set_speed(double samples_per_second) { samples_per_second_ = samples_per_second; }

  /// \throws Error (kStorage), also where the run's directory is no longer there.
  void tell(Event::Kind kind, std::vector<std::pair<std::string, double>> values = {}, std::string text = "");

  /// What is about to happen, for observers alone: the log holds what has happened, which an interruption cannot undo.
  void announce(Event::Kind kind, std::string text);

 private:
  void post(Event::Kind kind, std::vector<std::pair<std::string, double>> values, std::string text);

  const core::RunDirectory* directory_ = nullptr;
  core::EventLog* log_ = nullptr;
  ObserverThread* observers_ = nullptr;
  int64_t planned_ = 0;
  int64_t epochs_ = 0;
  int64_t step_ = 0;
  int64_t epoch_ = 0;
  double begin_ = 0;
  double remaining_ = -1;
  double samples_per_second_ = 0;
};

}  // namespace tenon::engine
