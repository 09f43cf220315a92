// Runs of one pipeline in processes of their own, for proofs that compare what they leave.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/json/json.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// Where training stands: the next batch to be read.
struct DataPosition {
  int64_t epoch = 0;
  int64_t batch = 0;

  friend bool operator<(const DataPosition& a, const DataPosition& b) {
    return a.epoch != b.epoch ? a.epoch < b.epoch : a.batch < b.batch;
  }
};

/// What a run says of itself (tenon run --outcome).
struct ProofRun {
  std::filesystem::path directory;
  std::filesystem::path checkpoint;  ///< The last one's folder.
  int64_t steps = 0;                 ///< Position that was reached.
  int64_t steps_executed = 0;        ///< By its process.
  int64_t samples_used = 0;          ///< Training samples of these steps.
  int64_t samples_read = 0;          ///< Training samples that its process fetched.
  std::optional<DataPosition> first_read;
  std::string stopped;  ///< Why training ended early; empty when it did not.
  core::Json validation;
};

/// What a checkpoint says of the position at which it was written.
struct CheckpointPosition {
  DataPosition next;
  int64_t samples = 0;  ///< Training samples that the steps until then used.
};

/// \throws Error (kCheckpoint) for a folder that holds no such checkpoint.
[[nodiscard]] CheckpointPosition position_of(const std::filesystem::path& checkpoint);

inline constexpr Option kKeepOption{"keep", "DIR", "make the runs in this folder, and leave them there"};

/// A signal came; the process that was running has been ended.
struct Interrupted {
  int signal = 0;
};

/// Runs the pipeline of a command's arguments without observers, test and export, which leave training alone.
/// Everything lies in one temporary folder that is removed at the end, or in that of --keep. Needs an `Interruption`.
class ProofRuns {
 public:
  /// \throws Error (kStorage) when the folder cannot be made.
  ProofRuns(const Arguments& arguments, const core::Graph& graph);
  ProofRuns(const ProofRuns&) = delete;
  ProofRuns& operator=(const ProofRuns&) = delete;
  ~ProofRuns();

  /// Runs to the end and gives what the run said. `place` names the folder of its runs, and stands in messages as
  /// `what` does: "the straight run". `options` are further arguments of tenon run.
  /// \throws Interrupted; Error when it ends otherwise than with `expected`, with its own message, and with the group
  /// of its exit code (kVerification where it ended as if all were well, kPlugin after a crash).
  ProofRun run(const std::string& place, const std::string& what, const std::vector<std::string>& options,
               int expected = 0);

 private:
  std::filesystem::path program_;
  std::filesystem::path folder_;
  bool keep_;
  std::vector<std::string> options_;  // of every run
  std::string pipeline_;
};

/// Reads the pipeline as tenon check does and, where it has no error, calls `proof` with it and the runs that it needs.
/// Gives the exit code: 128 + signal after an interruption.
[[nodiscard]] int prove(const Arguments& arguments, Console& console,
                        const std::function<int(const core::Graph& graph, ProofRuns& runs)>& proof);

}  // namespace tenon::host
