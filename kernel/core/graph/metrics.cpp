// References to metrics: from what the file says to the log key of a value that a validation computes.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
MetricTable::MetricTable(const Draft& draft) {
  if (!draft.validate) return;
  for (const NodeId id : draft.validate->metrics) {
    const Node& node = draft.nodes[id].node;
    const std::size_t outputs = node.info == nullptr ? 1 : std::max<std::size_t>(node.info->metrics.size(), 1);
    names_.push_back(node.name);
    for (std::size_t i = 0; i < outputs; ++i) {
      const MetricReference reference{metric_key("validate", node, i), id, i};
      keys_.push_back(reference.key);
      spellings_.emplace(reference.key, reference);
      if (i > 0) continue;
      spellings_.emplace(node.name, reference);
      if (node.info == nullptr || node.info->metrics.empty()) continue;
      spellings_.emplace(fmt::format("{}.{}", reference.key, node.info->metrics.front().name), reference);
    }
  }
}

namespace {

/// Says why a text that is no known reference is none.
Diagnostic explain(Draft& draft, std::string_view pointer, const std::string& text, std::string_view who) {
  const DraftNode* const node = draft.find(text);
  if (node != nullptr && !node->node.kind.empty()) {
    if (node->node.kind == "metric") {
      Diagnostic diagnostic = draft.at_value(pointer, "unmeasured-metric",
                                             fmt::format("{} is not computed by \"validate\"", core::quoted(text)));
      diagnostic.label = fmt::format("add {} to \"validate.metrics\"", core::quoted(text));
      return diagnostic;
    }
    return draft.at_value(
        pointer, "wrong-kind",
        fmt::format("{} needs a metric, but {} is {}", who, core::quoted(text), with_article(node->node.kind)));
  }
  if (text.starts_with("train.") || text.starts_with("test.")) {
    Diagnostic diagnostic = draft.at_value(pointer, "unmeasured-metric",
                                           fmt::format("{} is not a value of \"validate\"", core::quoted(text)));
    diagnostic.label = fmt::format("{} decides on what \"validate\" computes", who);
    return diagnostic;
  }
  return draft.at_value(pointer, "unknown-metric", fmt::format("there is no metric {}", core::quoted(text)));
}

}  // namespace

std::optional<MetricReference> MetricTable::find(Draft& draft, std::string_view pointer, const std::string& text,
                                                 std::string_view who) const {
  const auto found = spellings_.find(text);
  if (found != spellings_.end()) return found->second;
  // What is wrong with the validation has been told, and may hide what it would compute.
  const bool hidden = draft.has_error_under("/validate") || !draft.links_are_whole();
  if (hidden && (!draft.validate || draft.find(text) != nullptr)) return std::nullopt;
  if (!draft.validate) {
    Diagnostic diagnostic = draft.at_value(
        pointer, "no-validation", fmt::format("{} needs metric {}, but nothing validates", who, core::quoted(text)));
    diagnostic.label = "add a section \"validate\"";
    draft.add(std::move(diagnostic));
    return std::nullopt;
  }

  Diagnostic diagnostic = explain(draft, pointer, text, who);
  if (diagnostic.code == "unknown-metric") {
    const bool is_key = text.find('.') != std::string::npos;
    if (!draft.propose_nearest(diagnostic, text, is_key ? keys_ : names_)) {
      draft.propose_nearest(diagnostic, text, is_key ? names_ : keys_);
    }
  }
  diagnostic.notes.push_back(fmt::format("metrics: {}", list_names(keys_)));
  draft.add(std::move(diagnostic));
  return std::nullopt;
}

namespace {

/// Paths and references below the parameters of one component.
class References {
 public:
  References(Draft& draft, const MetricTable& metrics, std::string who, const DraftNode* node)
      : draft_(draft), metrics_(metrics), who_(std::move(who)), node_(node) {}

  void resolve(Json& with, const ComponentInfo& info, const std::string& pointer) {
    visit_annotated(with, info.parameters, pointer, [&](Json& value, const Json& schema, const std::string& place) {
      if (schema.contains("x-path")) resolve_path(value, place);
      const std::string reference = schema.value("x-reference", "");
      if (reference == "metric") resolve_metric(value, place);
      if (reference == "port") check_ports(value, place);
    });
  }

  [[nodiscard]] const std::optional<MetricReference>& metric() const { return metric_; }

 private:
  void resolve_path(Json& value, const std::string& place) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) return;
    if (const auto path = draft_.resolved.path(place)) value = path->string();
  }

  void resolve_metric(Json& value, const std::string& place) {
    if (!value.is_string() || draft_.has_error_under(place)) return;
    const std::optional<MetricReference> found = metrics_.find(draft_, place, value.get<std::string>(), who_);
    if (!found) return;
    value = found->key;
    metric_ = found;
  }

  /// The keys of a map, or a text, name input ports of the model that the node is attached to.
  void check_ports(const Json& value, const std::string& place) {
    if (node_ == nullptr || node_->targets.empty()) return;
    const NodeId model = node_->targets.front();
    if (draft_.nodes[model].in_open) return;
    std::vector<std::string> ports;
    for (const NamedPort& port : draft_.nodes[model].in) ports.push_back(port.name);
    const auto check = [&](const std::string& name, const std::string& at, bool is_key) {
      if (std::find(ports.begin(), ports.end(), name) != ports.end()) return;
      const std::string message = fmt::format("{} has no port {}", draft_.title(model), core::quoted(name));
      Diagnostic diagnostic =
          is_key ? draft_.at_key(at, "unknown-port", message) : draft_.at_value(at, "unknown-port", message);
      draft_.propose_nearest(diagnostic, name, ports);
      diagnostic.notes.push_back(fmt::format("ports: {}", list_names(ports)));
      draft_.add(std::move(diagnostic));
    };
    if (value.is_string()) check(value.get<std::string>(), place, false);
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) check(key, child_pointer(place, key), true);
  }

  Draft& draft_;
  const MetricTable& metrics_;
  std::string who_;
  const DraftNode* node_;
  std::optional<MetricReference> metric_;
};

}  // namespace

std::optional<Direction> direction_of(const Draft& draft, const MetricReference& metric) {
  const ComponentInfo* const info = draft.nodes[metric.node].node.info;
  if (info == nullptr || metric.output >= info->metrics.size()) return std::nullopt;
  return info->metrics[metric.output].direction;
}

void resolve_references(Draft& draft, const MetricTable& metrics) {
  const auto resolve = [&](auto& owner, References references) {
    references.resolve(owner.with, *owner.info, owner.pointer + "/with");
    if (!references.metric()) return;
    owner.metric_key = references.metric()->key;
    owner.metric_direction = direction_of(draft, *references.metric());
  };
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    DraftNode& each = draft.nodes[id];
    if (each.known) resolve(each.node, References(draft, metrics, draft.title(id), &each));
  }
  for (std::vector<Attached>* const list : {&draft.stop, &draft.observe}) {
    for (Attached& each : *list) resolve(each, References(draft, metrics, each.use, nullptr));
  }
}

void warn_of_tuning_on_test(Draft& draft) {
  if (!draft.validate || !draft.test) return;
  const bool keeps_best = draft.resolved.find("/checkpoint/keep/best") != nullptr;
  const auto stops =
      std::find_if(draft.stop.begin(), draft.stop.end(), [](const Attached& each) { return !each.metric_key.empty(); });
  if (!keeps_best && stops == draft.stop.end()) return;

  const auto same = [&](NodeId a, NodeId b) {
    const Node& left = draft.nodes[a].node;
    const Node& right = draft.nodes[b].node;
    return a == b || (left.kind == "dataset" && left.info != nullptr && left.info == right.info &&
                      left.inputs.empty() && right.inputs.empty() && left.with == right.with);
  };
  for (const NodeId ours : draft.test->stream) {
    if (draft.nodes[ours].node.kind != "dataset") continue;
    for (const NodeId theirs : draft.validate->stream) {
      if (draft.nodes[theirs].node.kind != "dataset" || !same(ours, theirs)) continue;
      const std::string who = keeps_best ? "\"checkpoint.keep.best\"" : stops->use;
      Diagnostic diagnostic = draft.at_value("/test/data", "test-set-used",
                                             fmt::format("{} decides on the data that \"test\" measures", who));
      diagnostic.severity = Severity::kWarning;
      diagnostic.label = "the result will look better than it is";
      draft.point_at(diagnostic, ours, "read by both");
      if (ours != theirs) draft.point_at(diagnostic, theirs, "the same data");
      draft.add(std::move(diagnostic));
      return;
    }
  }
}

}  // namespace tenon::core
