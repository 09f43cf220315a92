// The stages of build_graph in the order in which they run. Each reports what it finds and leaves the rest consistent,
// so that the next can look for more.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <core/graph/draft.hpp>

namespace tenon::core {

/// Finds the components of `stop` and `observe`, and checks and completes their parameters.
void read_attached(Draft& draft);

/// Finds the component of each node, checks its parameters and fills in their defaults.
void read_nodes(Draft& draft);

/// Gives calls the component of the node that they name; reads `frozen` and `load`.
void read_calls(Draft& draft);

/// Follows `in`, `of`, `field` and `groups` of each node, without regard to types.
void link_nodes(Draft& draft);

/// Puts nodes behind what they refer to; reports cycles, whose nodes are left out of the order.
void order_nodes(Draft& draft);

/// Types all streams of the data plane.
void type_streams(Draft& draft);

/// Finds the paths of all phases of fit, all validations, test and predict.
void build_paths(Draft& draft);

/// Types the step plane on each path, and the outputs of predict.
void type_paths(Draft& draft);

/// Finds on each path what was brought to another scale, and the classes of predicted outputs.
void find_scales(Draft& draft);

/// Follows `export` and run.distributed.
void read_roots(Draft& draft);

/// Marks what the roots reach, and reports the nodes that none does.
void check_reach(Draft& draft);

/// Each model has exactly one optimizer unless it is frozen, each optimizer something to train in each of its phases, each
/// value at most one schedule.
void check_training(Draft& draft);

/// What learns from data lies in the stream of fit; nodes that share their inputs agree on what they must.
void check_data_rules(Draft& draft);

/// What is measured is not changed at random unless its block allows it; what a dataset reads neither draws random
/// numbers nor learns from data.
void check_streams(Draft& draft);

/// A value that a validation computes.
struct MetricReference {
  std::string key;  ///< Log key.
  NodeId node = 0;
  std::size_t output = 0;
  std::size_t validation = 0;
};

/// All values that the validations compute, by their spellings.
class MetricTable {
 public:
  explicit MetricTable(const Draft& draft);

  /// What a text refers to, or null: then it refers to nothing, or to several values.
  [[nodiscard]] const MetricReference* find(const std::string& text) const;

  /// What the text at `pointer` refers to: a log key, or a metric node for its first output. Nothing after a report;
  /// `who` wants the metric.
  std::optional<MetricReference> find(Draft& draft, std::string_view pointer, const std::string& text,
                                      std::string_view who) const;

 private:
  void add_keys(const Draft& draft, std::size_t validation);
  void add_names(const Draft& draft, std::size_t validation);

  std::unordered_map<std::string, MetricReference> spellings_;
  std::unordered_map<std::string, std::vector<std::string>> several_;  ///< Keys of a metric that several compute.
  std::vector<std::string> names_;                                     ///< Metric nodes.
  std::vector<std::string> keys_;
};

/// Which way the metric gets better, where its component is known.
[[nodiscard]] std::optional<Direction> direction_of(const Draft& draft, const MetricReference& metric);

/// Resolves paths and references in the parameters of all components: a metric becomes its log key.
void resolve_references(Draft& draft, const MetricTable& metrics);

/// Warns where training decides on the data that the test measures.
void warn_of_tuning_on_test(Draft& draft, const MetricTable& metrics);

/// Reads what stands beside the nodes, and hands over all that the draft knows. Complete only without errors.
[[nodiscard]] Graph finish(Draft& draft, const MetricTable& metrics);

/// Ability of transforms that stand behind the loader (tenon/components/batch_transform.hpp, which is over ATen).
inline constexpr const char* kBatchTransform = "tenon.batch_transform/1";

/// True for a transform that works on batches.
[[nodiscard]] bool works_on_batches(const DraftNode& node);

// Shared pieces ---------------------------------------------------------------------------------------------------------

/// What "predict" shows.
[[nodiscard]] std::vector<DraftOutput> read_outputs(Draft& draft);

/// The component of a `use` written at `pointer`, or null after a report. `only` restricts the kind when it is not empty;
/// `who` is what has the slot ("\"stop\""). `meant_kind` receives the kind that is known or likely.
const ComponentInfo* find_component(Draft& draft, std::string_view pointer, const std::string& use,
                                    std::string_view only, std::string_view who, std::string& meant_kind);

/// Checks the parameters at `pointer` and fills in defaults, likewise for all components within them. False when there
/// were errors. Where none are written, an error at another key may be why one seems to be missing.
bool take_parameters(Draft& draft, std::string_view pointer, bool is_written, const ComponentInfo& component);

}  // namespace tenon::core
