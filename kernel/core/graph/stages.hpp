// The stages of build_graph in the order in which they run. Each reports what it finds and leaves the rest consistent,
// so that the next can look for more.
#pragma once

#include <functional>
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

/// Follows `in`, `of`, `field` and `groups` of each node, without regard to types.
void link_nodes(Draft& draft);

/// Puts nodes behind what they refer to; reports cycles, whose nodes are left out of the order.
void order_nodes(Draft& draft);

/// Types all streams of the data plane.
void type_streams(Draft& draft);

/// Finds the paths of fit, validate and test, and types the step plane on each.
void build_paths(Draft& draft);

/// Follows `export` and run.distributed.
void read_roots(Draft& draft);

/// Marks what the roots reach, and reports the nodes that none does.
void check_reach(Draft& draft);

/// Each model has exactly one optimizer, each optimizer something to train, each value at most one schedule.
void check_training(Draft& draft);

/// A value that the validation computes.
struct MetricReference {
  std::string key;  ///< Log key.
  NodeId node = 0;
  std::size_t output = 0;
};

/// All values that the validation computes, by their spellings.
class MetricTable {
 public:
  explicit MetricTable(const Draft& draft);

  /// What the text at `pointer` refers to: a log key, or a metric node for its first output. Nothing after a report;
  /// `who` wants the metric.
  std::optional<MetricReference> find(Draft& draft, std::string_view pointer, const std::string& text,
                                      std::string_view who) const;

 private:
  std::unordered_map<std::string, MetricReference> spellings_;
  std::vector<std::string> names_;  ///< Metric nodes.
  std::vector<std::string> keys_;
};

/// Which way the metric gets better, where its component is known.
[[nodiscard]] std::optional<Direction> direction_of(const Draft& draft, const MetricReference& metric);

/// Resolves paths and references in the parameters of all components: a metric becomes its log key.
void resolve_references(Draft& draft, const MetricTable& metrics);

/// Warns where training decides on the data that the test measures.
void warn_of_tuning_on_test(Draft& draft);

/// Reads what stands beside the nodes, and hands over all that the draft knows. Complete only without errors.
[[nodiscard]] Graph finish(Draft& draft, const MetricTable& metrics);

// Shared pieces ---------------------------------------------------------------------------------------------------------

/// The component of a `use` written at `pointer`, or null after a report. `only` restricts the kind when it is not empty;
/// `who` is what has the slot ("\"stop\""). `meant_kind` receives the kind that is known or likely.
const ComponentInfo* find_component(Draft& draft, std::string_view pointer, const std::string& use,
                                    std::string_view only, std::string_view who, std::string& meant_kind);

/// Checks the parameters at `pointer` and fills in defaults. False when there were errors. Where none are written, an
/// error at another key may be why one seems to be missing.
bool take_parameters(Draft& draft, std::string_view pointer, bool is_written, const ComponentInfo& component);

/// Calls `visit` for every value below `value` whose schema says "x-path" or "x-reference"; `visit` may change it.
using VisitAnnotated = std::function<void(Json& value, const Json& schema, const std::string& pointer)>;
void visit_annotated(Json& value, const Json& schema, const std::string& pointer, const VisitAnnotated& visit);

}  // namespace tenon::core
