// The border between the host and the engine: plain values in, plain values out, no libtorch type.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <core/graph/build.hpp>
#include <core/plugin/runtime.hpp>
#include <core/resume/resume_point.hpp>
#include <core/text/diagnostic.hpp>
#include <engine/data_report.hpp>
#include <engine/data_show.hpp>
#include <tenon/array.hpp>
#include <tenon/error.hpp>
#include <tenon/spec.hpp>

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
  /// Tries every stage once before the first step of a new run: a training step, each validation, a checkpoint written
  /// and read, the test, each export; with components, memory and a folder of its own, which are gone afterwards.
  bool preflight = true;
};

/// What is needed to measure a checkpoint again.
struct EvaluateRequest {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
  std::filesystem::path checkpoint;  ///< Its folder.
  std::string path = "test";         ///< Or the name of a validation's path: "validate", "validate.clean".
  /// Is told what the datasets have to say of their data, and which samples were left out or replaced; may be empty.
  std::function<void(const std::string&)> remark = {};
};

/// What is needed to run a checkpoint's models over the data of "predict".
struct PredictRequest {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
  std::filesystem::path checkpoint;  ///< Its folder.
  /// Is told what the datasets have to say of their data, and which samples have no row; may be empty.
  std::function<void(const std::string&)> remark = {};
};

/// One output of predictions, known before the first row.
struct PredictedColumn {
  FieldSpec field;                      ///< Name, type and shape of one row.
  std::vector<std::string> categories;  ///< The text of each class, or of each number; empty when there are none.
  bool names_values = false;            ///< Categories name the numbers themselves, else elements of the last axis.
};

/// Takes predictions as they are made, on the calling thread. What it throws ends the predicting and comes out.
class PredictionSink {
 public:
  /// Once, before the first rows; `rows` is how many there will be, or more where the loader leaves bad samples out.
  /// `named`: the dataset knows what its items are called.
  virtual void begin(const std::vector<PredictedColumn>& columns, int64_t rows, bool named) = 0;

  /// Rows in the order of the dataset, one at least: for each its index in the dataset, and one array a column with the
  /// rows as first axis, in the type and shape of begin(); and what the item is called, where they are named, such as its
  /// file. All of it lives during the call.
  virtual void take(std::span<const int64_t> samples, std::span<const std::string> names,
                    std::span<const Array> columns) = 0;

 protected:
  ~PredictionSink() = default;
};

/// The models of a checkpoint, ready to predict again and again. All calls, and its end, on the thread that opened it.
class OpenedPredictor {
 public:
  virtual ~OpenedPredictor() = default;

  /// As Engine::predict; the dataset at the head of "predict" may have another size each time.
  virtual int64_t predict(PredictionSink& sink) = 0;
};

struct ExportOutcome {
  std::string node;
  std::filesystem::path file;
  double max_abs_error = 0;  ///< Largest difference found over all batches and outputs.
  std::vector<int64_t> batches;
};

/// What is needed to export from a checkpoint.
struct ExportRequest {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
  core::Libtorch libtorch;
  std::filesystem::path checkpoint;  ///< Its folder.
  std::vector<std::string> nodes;    ///< Exporter nodes of the graph.
  std::filesystem::path folder;      ///< Where the files go; it exists.
  std::filesystem::path program;     ///< The `tenon` program: the second process.
  Interruption* interruption = nullptr;
};

/// What is needed to know shapes: no data is read.
struct PlanRequest {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
};

/// What flows where, as the components themselves say.
struct PlanReport {
  struct Value {
    std::string path;  ///< "fit", "validate", …
    std::string node;  ///< Of a stream or of the step plane.
    FieldSpec field;   ///< Its output. A stream's fields have a batch axis behind a loader alone.
  };
  std::vector<Value> values;
  std::map<std::string, int64_t> parameters;   ///< Elements of each model, by node.
  std::map<std::string, std::string> untried;  ///< Models that could not be tried without memory, with the reason.
};

/// A schedule over the run that is planned.
struct ScheduleCurveRequest {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
  std::string node;      ///< The schedule.
  int64_t points = 200;  ///< At most so many, at even distances, first and last step included.
};

struct ScheduleCurve {
  std::string field;  ///< "lr"
  std::string of;     ///< The optimizer.
  double configured = 0;
  int64_t planned = 0;  ///< Steps.
  int64_t steps_per_epoch = 0;
  std::vector<std::pair<int64_t, double>> values;  ///< Applied steps, value of the field for the step that follows.
};

/// What is needed to look into the modules of a pipeline's models for one training batch. Changes nothing.
struct ProbeRequest {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
  std::vector<std::string> patterns;                ///< Globs over "net.conv1", also by the name of a call.
  std::optional<std::filesystem::path> checkpoint;  ///< Weights from there, else first values.
  /// Is told what the datasets have to say of their data; may be empty.
  std::function<void(const std::string&)> remark = {};
};

/// One output of one module over one forward and backward pass.
struct ProbedOutput {
  std::string phase;   ///< Of `fit`; empty where it has none.
  std::string node;    ///< The node that ran it: "net", or a call of it.
  std::string module;  ///< "net.conv1", by the node whose component it is.
  std::string output;  ///< Empty for a layer, which has one.
  FieldSpec field;     ///< Type and shape.
  double mean = 0;     ///< Of the finite elements, in float64, as are the rest.
  double deviation = 0;
  double minimum = 0;
  double maximum = 0;
  double zeros = 0;  ///< Share of elements that are 0.
  int64_t not_finite = 0;
  std::optional<double> gradient_norm;  ///< 2-norm of the loss's gradient; nothing where none came.
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
  double preflight_seconds = 0;           ///< What trying every stage took; 0 where it was left out.
  double train_seconds = 0;               ///< From the first step to the last, validation and saving included.
  double samples_per_second = 0;          ///< Training alone.
  int64_t peak_memory = 0;                ///< Bytes that this process had resident at most, by the end of the run.
  std::string stopped;                    ///< Why training ended early; empty when it ran to its end.
  std::filesystem::path last_checkpoint;  ///< The newest, perhaps the one gone on from; empty when there is none.
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
  /// Gives the number of rows, one at least: a sample that cannot be made has none where the loader tolerates it.
  virtual int64_t predict(const PredictRequest& request, PredictionSink& sink) = 0;
  /// Opens what predict() opens, and keeps it.
  [[nodiscard]] virtual std::unique_ptr<OpenedPredictor> open_predictor(PredictRequest request) = 0;
  /// Those that were verified before an interruption, where there is one.
  [[nodiscard]] virtual std::vector<ExportOutcome> export_checkpoint(const ExportRequest& request) = 0;
  [[nodiscard]] virtual PlanReport plan(const PlanRequest& request) = 0;
  [[nodiscard]] virtual ScheduleCurve schedule_curve(const ScheduleCurveRequest& request) = 0;
  /// In the order in which the modules first gave something.
  [[nodiscard]] virtual std::vector<ProbedOutput> probe(const ProbeRequest& request) = 0;
  [[nodiscard]] virtual DataReport check_data(const DataCheckRequest& request) = 0;
  [[nodiscard]] virtual DataShown show_data(const DataShowRequest& request) = 0;
  virtual void run_artefact(const ArtefactRequest& request) = 0;
  [[nodiscard]] virtual DeviceReport devices() = 0;

 protected:
  ~Engine() = default;
};

inline constexpr const char* kEngineSymbol = "tenon_engine_1";
using EngineFunction = Engine*() noexcept;

}  // namespace tenon::engine
