// What a training is told, and what it leads to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include <tenon/components/observer.hpp>

namespace tenon::kernel {

struct TrainOptions {
  /// Is told every event of the run (tenon/components/observer.hpp), on a thread of the kernel's, one after the other.
  /// It must not call train(); what it throws is noted once in the run's log and otherwise ignored; one that blocks for
  /// long loses events of steps, never holds training up, and is copied, so that it may outlive the call when it does
  /// not come back at all. The texts and values of an event live during the call.
  std::function<void(const Event&)> observer = {};

  /// A request from any thread ends the run at the end of the step that is being made: a checkpoint is written, and
  /// Result::interrupted is true. Resuming gives the very bytes of a run that was never stopped.
  std::stop_token stop = {};

  /// As --resume: "never" a new run; "auto" go on with the newest run of that name where it can go on, else a new one;
  /// "must" likewise, or an error; or the path of a run directory or of a checkpoint.
  std::string resume = "never";
  std::set<std::string> accept = {};  ///< As --accept: what may have changed since the checkpoint.

  /// Tries every stage once before the first step of a new run, in a scratch folder.
  bool preflight = true;
};

/// A model that was exported and verified.
struct Export {
  std::string node;
  std::filesystem::path file;
  double max_abs_error = 0;  ///< Largest difference to the model, over all batch sizes that were tried.
};

/// What a training led to.
struct Result {
  std::filesystem::path directory;  ///< The run's; empty when it was stopped before it had one.
  bool interrupted = false;         ///< Stopped by TrainOptions::stop: test and export are left to whoever resumes it.
  std::string stopped;              ///< Why training ended early, as a controller said; else empty.
  int64_t first_step = 0;           ///< 0, or the step of the checkpoint that it went on from.
  int64_t steps = 0;                ///< Position reached.
  int64_t epochs = 0;
  double seconds = 0;             ///< From the first step to the last, validation and saving included.
  double samples_per_second = 0;  ///< Training alone.

  std::filesystem::path checkpoint;       ///< The one to use: the best where the pipeline keeps one, else the newest.
  bool checkpoint_is_best = false;        ///< And it is known to be the best.
  std::filesystem::path last_checkpoint;  ///< The newest, perhaps the one gone on from; empty when there is none.
  std::map<std::string, double> validation;  ///< Of `checkpoint`, by log key: "validate.acc".
  std::map<std::string, double> test;        ///< By log key.
  std::vector<Export> exports;
};

}  // namespace tenon::kernel
