// The graph of a pipeline: nodes of both planes, typed from manifests alone, and the paths that run over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>
#include <core/plugin/manifest.hpp>
#include <tenon/ports.hpp>
#include <tenon/quantity.hpp>
#include <tenon/spec.hpp>

namespace tenon::core {

/// Reserved name of the stream that the running path reads.
inline constexpr std::string_view kBatch = "batch";

/// One wired input of a step node: `port` takes `source.output`.
struct Wire {
  std::string port;
  std::string source;  ///< Name of a step node, or "batch".
  std::string output;  ///< Output of that node, or field of the batch.

  [[nodiscard]] bool from_batch() const noexcept { return source == kBatch; }
};

/// Parameters whose full names match the glob get their own values of schedulable parameters.
struct Group {
  std::string match;
  Json with;  ///< Only what the group sets.
};

/// One built component, or a further use of one. Only enabled nodes that some root reaches are in a graph.
struct Node {
  std::string name;
  /// The node whose component this one uses again: the same weights, the same parameters, the same learned statistics.
  /// `kind`, `component`, `info` and `with` are that node's. Empty for a node that has its own.
  std::string call;
  std::string kind;                     ///< "optimizer"
  std::string component;                ///< "adamw"
  const ComponentInfo* info = nullptr;  ///< Lives as long as a copy of the catalogue.
  Json with;                            ///< Complete: defaults filled, paths and metric references resolved.
  std::vector<std::string> inputs;      ///< Data plane: names of the streams that it takes.
  std::vector<Wire> wires;              ///< Step plane, in the order of the component's ports.
  std::vector<std::string> of;          ///< Optimizer: models. Schedule: one optimizer. Exporter: one model.
  std::string field;                    ///< Schedule: the driven parameter, such as "lr".
  std::vector<Group> groups;            ///< Optimizer: in file order, the first match wins.
  bool frozen = false;                  ///< Model: not trained, and in evaluation mode while others train.
  std::filesystem::path load;           ///< Model: safetensors with its first values; empty for its own.
  std::string metric_key;               ///< The log key that a parameter refers to; empty when none does.
  std::optional<tenon::Direction> metric_direction;
  std::string pointer;  ///< "/nodes/opt"
  /// Data plane: fields of the stream. Step plane: outputs, on the first path that reaches the node. What the manifests
  /// do not tell is left out.
  Spec out;
  bool open = false;  ///< Some of `out` is known only once the plan is made.

  /// "optimizer:adamw"
  [[nodiscard]] std::string use() const { return kind + ":" + component; }

  /// The node whose component it uses: itself, but for a `call`.
  [[nodiscard]] const std::string& owner() const noexcept { return call.empty() ? name : call; }
};

/// A value on a path that a transform of the stream brought to another scale: it is brought back before `node` sees it.
struct Undo {
  std::string node;       ///< A metric; empty for an output of `predict`.
  std::string port;       ///< Its port, or the name of the output.
  std::string transform;  ///< The node whose component knows how.
  std::string field;      ///< The field as that transform calls it.
};

/// What one run over a stream needs.
struct Path {
  std::string name;                  ///< "fit", "fit.critic", "validate", "validate.clean", "test", "predict"
  std::string data;                  ///< The last node of the stream: its loader, or what transforms its batches.
  std::string loader;                ///< The loader.
  std::vector<std::string> stream;   ///< From the dataset to `data`, in order.
  std::vector<std::string> step;     ///< Models, losses and metrics, each behind its sources.
  std::vector<std::string> metrics;  ///< As listed in the file.
  std::vector<Undo> undo;            ///< In the order in which they are undone.
  std::optional<int64_t> limit;      ///< Batches at most, of each pass.
  std::optional<int64_t> overfit;    ///< Of `fit`: every epoch is so many batches of epoch 0 again.
};

struct LossTerm {
  std::string node;
  double weight = 1;
};

/// One of the updates that a step is made of.
struct Phase {
  std::string name;                     ///< Empty for the only phase of a `fit` that has none.
  Path path;                            ///< "fit" or "fit.NAME".
  std::vector<LossTerm> losses;         ///< By name, so that the sum does not depend on the order in the file.
  std::vector<std::string> optimizers;  ///< Those that update, by name; no other parameters take gradients.
  int64_t repeat = 1;                   ///< How often in a step.
  bool own_data = false;  ///< Reads `repeat` windows a step of its own loader, else the step's one window.
};

struct Fit {
  Path path;                  ///< What all phases without data of their own run, over the stream of `fit.data`.
  std::vector<Phase> phases;  ///< In order; at least one, and at least one without data of its own.
  std::optional<std::string> precision;
  tenon::Span epochs;  ///< Length of training; a bare number in the file counts epochs.
  int64_t accumulate = 1;
  std::optional<double> clip_norm;
  std::vector<std::string> optimizers;  ///< By name.
  std::vector<std::string> schedules;   ///< By name.
};

/// When something repeats: any of them triggers.
struct Cadence {
  std::vector<tenon::Span> spans;
  std::vector<tenon::Time> times;
};

struct Validation {
  std::string name;  ///< Empty for one without a name.
  Path path;         ///< Its name begins the log keys: "validate", or "validate.NAME" where there are several.
  Cadence every;
};

struct Test {
  Path path;
};

/// One column of predictions.
struct PredictedOutput {
  enum class Form { kValue, kSoftmax, kSigmoid, kArgmax };

  std::string name;
  std::string source;  ///< Name of a model node, or "batch".
  std::string output;
  Form form = Form::kValue;
  /// Of the classes, for softmax and argmax: from 0, or from -1 backwards; else the last.
  std::optional<int64_t> axis;
  /// The transform or dataset, and its field, whose texts name the classes (argmax, softmax) or the values; empty when
  /// there are none.
  std::string categories;
  std::string categories_field;
};

struct Predict {
  Path path;
  std::vector<PredictedOutput> outputs;  ///< As listed in the file.
};

/// The checkpoint worth keeping.
struct KeepBest {
  std::string key;     ///< Log key, "validate.acc".
  std::string metric;  ///< Name of the metric node.
  std::string output;  ///< Which of its values.
  tenon::Direction direction = tenon::Direction::kMax;
  int64_t count = 1;
};

struct CheckpointPlan {
  Cadence every;
  int64_t keep_last = 2;
  std::optional<KeepBest> best;
};

/// A component of `stop` or `observe`.
struct Attached {
  std::string use;        ///< "observer:patience"
  std::string component;  ///< "patience"
  const ComponentInfo* info = nullptr;
  Json with;               ///< Complete; metric references are full log keys.
  std::string pointer;     ///< "/stop/0"
  std::string metric_key;  ///< The log key that it refers to; empty when it refers to none.
  std::optional<tenon::Direction> metric_direction;
};

struct RunSettings {
  int64_t seed = 0;
  std::string device;              ///< "auto", "cpu", "cuda"
  std::string determinism;         ///< "strict", …
  std::string float32;             ///< "ieee", "tf32"
  std::string autotune;            ///< "off", "fixed"
  std::optional<int64_t> threads;  ///< Empty for "auto".
  std::filesystem::path dir;       ///< Counted from where it was written.
  std::string distributed;         ///< "auto" or the name of a node.
};

/// "value", "softmax", "sigmoid", "argmax"
[[nodiscard]] std::string_view name_of(PredictedOutput::Form form) noexcept;

/// Log key of a metric's value: "validate.acc" for its first output, "validate.acc.top5" for a further one.
[[nodiscard]] std::string metric_key(std::string_view path, const Node& metric, std::size_t output = 0);

/// Immutable once built. Pointers into it stay valid while it lives and is not moved.
struct Graph {
  std::string name;
  RunSettings run;
  /// Each behind the nodes that it reads or is attached to; the order in the file does not matter. A `call` may stand
  /// before the node whose component it uses, which is always there.
  std::vector<Node> nodes;
  Fit fit;
  std::vector<Validation> validations;  ///< By name.
  std::optional<Test> test;
  std::optional<Predict> predict;
  CheckpointPlan checkpoint;
  std::vector<Attached> stop;
  std::vector<Attached> observe;
  std::vector<std::string> exports;
  /// The whole pipeline with every default, in canonical order: what config.resolved.json holds. A pipeline file itself.
  Json resolved;

  /// The node of that name, or nullptr. [any thread]
  [[nodiscard]] const Node* find(std::string_view node) const noexcept;

  /// The node of that name, which must be there.
  [[nodiscard]] const Node& at(std::string_view node) const;

  /// Each phase of training, each validation, test and predict, as far as they are there.
  [[nodiscard]] std::vector<const Path*> paths() const;

  /// Likewise, but each stream once: that of fit for all phases without data of their own.
  [[nodiscard]] std::vector<const Path*> streams() const;

  std::map<std::string, std::size_t, std::less<>> index;  ///< Position in `nodes` by name.
};

}  // namespace tenon::core
