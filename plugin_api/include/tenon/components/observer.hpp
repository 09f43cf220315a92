// Observers: see what happens, change nothing; with the ability Controller, ask for something at step boundaries.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <tenon/component.hpp>
#include <tenon/components/schedule.hpp>

namespace tenon {

/// A logged number by its log key, such as "train.loss" or "validate.acc".
struct LoggedValue {
  std::string_view key;
  double value = 0;
};

/// One thing that happened. Strings and spans live during the call.
struct Event {
  enum class Kind {
    kRunStart,       ///< Before the first step; `step`, `epoch` say where the run begins.
    kStep,           ///< A log interval is over: values of training.
    kValidateStart,  ///< `text` is the validation's name.
    kValidateEnd,    ///< Values found.
    kCheckpoint,     ///< Written and verified; `text` is its path.
    kBest,           ///< The newest checkpoint became the best; `text` is its path.
    kTest,           ///< Values of the test.
    kExport,         ///< Written and verified; `text` is its path.
    kMessage,        ///< Something people should read: `text`.
    kRunEnd,         ///< All went well; `text` says why it ended: "done", or what a controller gave as its reason.
    kFailure,        ///< An error ends the run; `text` is its message, which the host tells with its place.
    kTiming,         ///< What the run's speed depends on, and what was measured of it, in words: `text`. It differs
                     ///< from run to run.
  };

  Kind kind = Kind::kMessage;
  int64_t step = 0;     ///< Steps attempted so far.
  int64_t planned = 0;  ///< Steps that the run is going to take, unless it stops early.
  int64_t epoch = 0;    ///< Counts from 0.
  int64_t epochs = 0;
  double elapsed = 0;  ///< Seconds since the run began.
  double remaining =
      -1;  ///< Seconds that the rest may take, validation and saving included; negative when not known yet.
  double samples_per_second = 0;
  std::span<const LoggedValue> values;
  std::string_view text;
};

/// Sees events on a thread of its own, through a bounded queue that drops rather than stop training.
class Observer : public Component {
 public:
  static constexpr const char* kInterface = "tenon.observer";
  static constexpr uint32_t kRevision = 1;

  /// What is thrown here is counted, logged once and otherwise ignored. [observer]
  virtual void on(const Event& event) = 0;
};

/// What a controller may ask for; carried out by the engine at the step boundary, on all ranks at once.
class Requests {
 public:
  /// Ends training after this step, with checkpoint, test and export. `reason` is shown to people.
  virtual void stop(std::string_view reason) = 0;

  /// Writes a checkpoint now.
  virtual void save() = 0;

 protected:
  ~Requests() = default;
};

/// Ability of an observer that steers. Its state is part of the checkpoint. A class that has it lists kAbility in
/// `static std::vector<std::string> abilities()` and returns its Controller from ability().
class Controller {
 public:
  static constexpr const char* kAbility = "tenon.controller/1";

  /// Called after every attempted step, and after a validation with `progress.metric` set. [trainer]
  virtual void at_step(const Progress& progress, Requests& requests) = 0;

 protected:
  ~Controller() = default;
};

}  // namespace tenon
