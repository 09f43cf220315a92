// The border between the host and the engine: plain values in, plain values out, no libtorch type.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <core/graph/build.hpp>
#include <core/plugin/runtime.hpp>
#include <core/resume/resume_point.hpp>
#include <core/text/diagnostic.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {

/// An error with its place in the pipeline.
class PlacedError : public Error {
 public:
  explicit PlacedError(core::Diagnostic diagnostic)
      : Error(diagnostic.error_code, diagnostic.message), diagnostic_(std::move(diagnostic)) {}

  [[nodiscard]] const core::Diagnostic& diagnostic() const noexcept { return diagnostic_; }

 private:
  core::Diagnostic diagnostic_;
};

/// The wish that a run saves what it has and ends, from a signal handler or another thread.
class Interruption {
 public:
  /// `signal` is the number of a signal; the first one stays. False when there was one already. Safe in a handler.
  bool request(int signal) noexcept {
    int none = 0;
    return signal_.compare_exchange_strong(none, signal);
  }

  /// 0 when nobody has asked.
  [[nodiscard]] int signal() const noexcept { return signal_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> signal_{0};
  static_assert(std::atomic<int>::is_always_lock_free);
};

/// All that a run needs. The pipeline has been checked; nothing of it is opened yet.
struct RunRequest {
  core::Graph graph;
  core::Resolved resolved;  ///< For places in errors.
  core::Catalogue catalogue;
  core::Libtorch libtorch;
  std::vector<core::EnvironmentSetting> environment;
  std::filesystem::path program;  ///< The `tenon` program: the export gate runs it as the second process.

  std::shared_ptr<core::ResumePoint> resume;  ///< Where to go on, locked; nothing for a new run. The run consumes it.
  std::set<std::string> accepted;             ///< Words of --accept.
  std::set<std::string> begin_anew;           ///< Nodes whose saved state is left aside.
  Interruption* interruption = nullptr;       ///< Outlives the run; nobody can interrupt it without one.
  std::optional<int64_t> interrupt_at;        ///< As if SIGTERM came while this attempted step, from 1 on, is made.
};

/// What is needed to measure a checkpoint again.
struct EvaluateRequest {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
  std::filesystem::path checkpoint;  ///< Its folder.
  bool test = true;                  ///< The path "test", else "validate".
};

struct ExportOutcome {
  std::string node;
  std::filesystem::path file;
  double max_abs_error = 0;  ///< Largest difference found over all batches and outputs.
  std::vector<int64_t> batches;
};

/// What a run led to.
struct RunOutcome {
  std::filesystem::path directory;  ///< Empty when the run was interrupted before it had one.
  int interrupted = 0;              ///< The signal that ended it early; what it had is saved.
  int64_t first_step = 0;           ///< Where this process began: 0, or the step of the checkpoint.
  int64_t steps = 0;                ///< Position reached.
  int64_t steps_executed = 0;       ///< Counted one by one as they were made here.
  int64_t samples_used = 0;         ///< Of these steps, over all ranks.
  int64_t samples_read = 0;         ///< Training samples that were fetched here by all ranks, also those made ahead.
  std::optional<std::pair<int64_t, int64_t>> first_read;  ///< Epoch and batch of the first of them.
  int64_t epochs = 0;
  double train_seconds = 0;               ///< From the first step to the last, validation and saving included.
  double samples_per_second = 0;          ///< Training alone.
  std::string stopped;                    ///< Why training ended early; empty when it ran to its end.
  std::filesystem::path last_checkpoint;  ///< The newest; empty when none was written.
  std::filesystem::path checkpoint;       ///< The one that test and export used.
  bool checkpoint_is_best = false;
  std::map<std::string, double> validation;  ///< Of that checkpoint, by log key.
  std::map<std::string, double> test;        ///< By log key.
  std::vector<ExportOutcome> exports;
};

/// What libtorch and the machine offer, for `tenon doctor`.
struct DeviceReport {
  std::string libtorch;
  std::string cpu_capability;  ///< "AVX512", …
  int64_t threads = 0;         ///< Intra-op.
  bool cuda_library = false;   ///< libtorch_cuda is open.
  std::vector<std::string> cuda_devices;
  std::string cuda_problem;  ///< Why there is none although the library is open.
};

/// Runs one exported file in this process: the far side of the export gate.
struct ArtefactRequest {
  core::Catalogue catalogue;
  std::string component;  ///< "exporter:torchscript"
  core::Json with;
  std::filesystem::path file;
  std::filesystem::path inputs;   ///< Safetensors: one tensor for each input port.
  std::filesystem::path outputs;  ///< Safetensors to be written: one for each output port.
};

/// Lives as long as the process. All functions may throw Error, mostly PlacedError; no other exception leaves them.
class Engine {
 public:
  virtual RunOutcome run(const RunRequest& request) = 0;
  /// Metrics by log key.
  [[nodiscard]] virtual std::map<std::string, double> evaluate(const EvaluateRequest& request) = 0;
  virtual void run_artefact(const ArtefactRequest& request) = 0;
  [[nodiscard]] virtual DeviceReport devices() = 0;

 protected:
  ~Engine() = default;
};

inline constexpr const char* kEngineSymbol = "tenon_engine_1";
using EngineFunction = Engine*() noexcept;

}  // namespace tenon::engine
