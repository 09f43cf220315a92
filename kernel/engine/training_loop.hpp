// The loop around training steps: what is told, saved, validated and decided between them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <engine/agreement.hpp>
#include <engine/cadence.hpp>
#include <engine/checkpointing.hpp>
#include <engine/evaluate.hpp>
#include <engine/events.hpp>
#include <engine/restore.hpp>
#include <engine/setup.hpp>

namespace tenon::engine {

/// Trains from where `setup` stands to the end. Every rank has one, and all of them decide alike. [trainer]
class TrainingLoop {
 public:
  /// All outlive it. `checkpointing` is nullptr on ranks other than the first, which write nothing.
  TrainingLoop(Setup& setup, Events& events, Checkpointing* checkpointing, const InterruptionPoll& poll,
               const Evaluator& evaluator);

  /// First what the checkpoint left to be done, then the steps. \throws Interrupted when all is saved, PlacedError.
  void run(const Standing& standing);

  /// Makes one step, saves and validates as at the end of training, and no more. \throws Interrupted, PlacedError.
  void run_trial();

  /// Why training ended early; empty when it came to its end.
  [[nodiscard]] const std::string& stopped() const noexcept { return stopped_; }

  /// Steps that were made here, and their samples over all ranks.
  [[nodiscard]] int64_t steps_made() const noexcept { return steps_made_; }
  [[nodiscard]] int64_t samples_used() const noexcept { return samples_; }

  /// Of training alone, without validation and saving.
  [[nodiscard]] double samples_per_second() const noexcept;

 private:
  class Asked;

  /// Sums since the loop began: seconds of steps, and of those the parts that are measured; work of the loader.
  struct TimeSplit {
    double stepping = 0;
    double waited = 0;
    double copied = 0;
    int64_t samples = 0;
    double wall = 0;
  };

  /// What is to happen behind a step, the same on every rank.
  struct Decision {
    bool save = false;
    std::vector<std::string> validations;  // by the names of their paths
    int signal = 0;
  };

  void train();
  StepReport make_step();
  void tell_step(const StepReport& report, bool end);
  void add_time_split(std::vector<std::pair<std::string, double>>& values);
  void tell_data(const StepReport& report);
  void tell_feeds(int64_t epoch);
  void tell_bottleneck();
  void tell_choice(const LoaderFacts& facts);
  Decision decide(const StepReport& report, Asked& asked);
  void settle_stop(Asked& asked);
  void boundary(Decision decision);
  void save(bool interim);
  void validate();
  void note_validated(const std::map<std::string, double>& results);
  void observe_metrics(const std::map<std::string, double>& results);
  void ask(const Components::Observing& each, const Progress& progress, Asked& asked);

  Setup& setup_;
  Training& training_;
  Events& events_;
  Checkpointing* checkpointing_;
  const InterruptionPoll& poll_;
  const Evaluator& evaluator_;
  Due checkpoint_due_;
  std::vector<Due> validate_due_;  // of each validation
  std::string stopped_;
  std::vector<std::string> pending_;  // validations that are due at the present step, and not done yet
  bool save_due_ = false;             // the present step is one that is saved also without an interruption
  bool saved_ = false;                // and it has its checkpoint
  int64_t first_step_;
  int64_t steps_made_ = 0;
  int64_t samples_ = 0;              // of the steps made here
  double stepping_ = 0;              // seconds spent in them
  TimeSplit logged_;                 // at the last line of a step
  std::optional<int> told_workers_;  ///< Threads of the loader, as people know them.
  double begin_ = 0;
};

}  // namespace tenon::engine
