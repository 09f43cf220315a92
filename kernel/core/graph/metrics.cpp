// References to metrics: from what the file says to the log key of a value that a validation computes.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/schema/annotations.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

/// How many values a metric computes; at least one.
std::size_t outputs_of(const Node& metric) {
  return metric.info == nullptr ? 1 : std::max<std::size_t>(metric.info->metrics.size(), 1);
}

}  // namespace

MetricTable::MetricTable(const Draft& draft) {
  // Log keys come first: no shorter spelling may stand in for one.
  for (std::size_t i = 0; i < draft.validations.size(); ++i) add_keys(draft, i);
  for (std::size_t i = 0; i < draft.validations.size(); ++i) add_names(draft, i);
  for (const auto& [name, keys] : several_) spellings_.erase(name);
}

void MetricTable::add_keys(const Draft& draft, std::size_t validation) {
  const DraftPath& path = draft.validations[validation].path;
  for (const NodeId id : path.metrics) {
    const Node& node = draft.nodes[id].node;
    for (std::size_t i = 0; i < outputs_of(node); ++i) {
      const MetricReference reference{metric_key(path.path.name, node, i), id, i, validation};
      keys_.push_back(reference.key);
      spellings_.emplace(reference.key, reference);
    }
  }
}

void MetricTable::add_names(const Draft& draft, std::size_t validation) {
  const DraftValidation& each = draft.validations[validation];
  for (const NodeId id : each.path.metrics) {
    const Node& node = draft.nodes[id].node;
    const MetricReference& first = spellings_.at(metric_key(each.path.path.name, node));
    const auto [known, added] = spellings_.emplace(node.name, first);
    if (added) {
      names_.push_back(node.name);
    } else {
      std::vector<std::string>& keys = several_[node.name];
      if (keys.empty()) keys.push_back(known->second.key);
      keys.push_back(first.key);
    }
    for (std::size_t i = 0; i < outputs_of(node); ++i) {
      const MetricReference& reference = spellings_.at(metric_key(each.path.path.name, node, i));
      const bool has_name = node.info != nullptr && !node.info->metrics.empty();
      if (i == 0 && has_name) {
        spellings_.emplace(fmt::format("{}.{}", reference.key, node.info->metrics.front().name), reference);
      }
      // The only validation of a map may be named all the same.
      if (draft.validations.size() == 1 && !each.name.empty()) {
        spellings_.emplace(metric_key("validate." + each.name, node, i), reference);
      }
    }
  }
}

namespace {

/// The text is well-formed, though what it refers to is not measured: "acc", "validate.acc", "validate.clean.acc".
bool may_be_measured(const Draft& draft, std::string_view text) {
  if (draft.find(text) != nullptr) return true;
  const auto take = [&](std::string_view word) {
    const bool begins = text.size() > word.size() && text.starts_with(word) && text[word.size()] == '.';
    if (begins) text.remove_prefix(word.size() + 1);
    return begins;
  };
  if (!take("validate")) return false;
  if (draft.has_error_under(child_pointer("/validate", text.substr(0, text.find('.'))))) return true;
  for (const DraftValidation& each : draft.validations) {
    if (!each.name.empty() && take(each.name)) break;
  }
  return draft.find(text.substr(0, text.find('.'))) != nullptr;
}

/// The node that is meant where a text names its component.
std::optional<std::string> named_after(const Draft& draft, std::string_view text) {
  for (const DraftValidation& each : draft.validations) {
    for (const NodeId id : each.path.metrics) {
      const Node& node = draft.nodes[id].node;
      if (node.component == text || node.use() == text) return node.name;
    }
  }
  return std::nullopt;
}

/// Says why a text that is no known reference is none.
Diagnostic explain(Draft& draft, std::string_view pointer, const std::string& text, std::string_view who) {
  const DraftNode* const node = draft.find(text);
  if (node != nullptr && !node->node.kind.empty()) {
    if (node->node.kind == "metric") {
      Diagnostic diagnostic = draft.at_value(pointer, "unmeasured-metric",
                                             fmt::format("{} is not computed by \"validate\"", core::quoted(text)));
      diagnostic.label = draft.validations.size() == 1
                             ? fmt::format("add {} to {}", core::quoted(text),
                                           core::quoted(dotted_path(draft.validations.front().pointer + "/metrics")))
                             : fmt::format("add {} to the \"metrics\" of a validation", core::quoted(text));
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

const MetricReference* MetricTable::find(const std::string& text) const {
  const auto found = spellings_.find(text);
  return found == spellings_.end() ? nullptr : &found->second;
}

std::optional<MetricReference> MetricTable::find(Draft& draft, std::string_view pointer, const std::string& text,
                                                 std::string_view who) const {
  if (const MetricReference* const found = find(text)) return *found;
  if (const auto keys = several_.find(text); keys != several_.end()) {
    Diagnostic diagnostic = draft.at_value(pointer, "ambiguous-metric",
                                           fmt::format("{} is computed by several validations", core::quoted(text)));
    diagnostic.label = "write the full key of one of them";
    diagnostic.notes.push_back(fmt::format("keys: {}", list_names(keys->second)));
    draft.add(std::move(diagnostic));
    return std::nullopt;
  }
  // What is wrong with the validation has been told, and may hide what it would compute.
  const bool hidden = draft.has_error_under("/validate") || !draft.links_are_whole();
  if (hidden && (draft.validations.empty() || may_be_measured(draft, text))) return std::nullopt;
  if (draft.validations.empty()) {
    Diagnostic diagnostic = draft.at_value(
        pointer, "no-validation", fmt::format("{} needs metric {}, but nothing validates", who, core::quoted(text)));
    diagnostic.label = "add a section \"validate\"";
    draft.add(std::move(diagnostic));
    return std::nullopt;
  }

  Diagnostic diagnostic = explain(draft, pointer, text, who);
  if (diagnostic.code == "unknown-metric") {
    const bool is_key = text.find('.') != std::string::npos;
    constexpr std::string_view kSection = "validate.";
    const bool begins = text.starts_with(kSection);
    const MetricReference* const bare = begins ? find(text.substr(kSection.size())) : nullptr;
    if (bare != nullptr) {
      draft.propose(diagnostic, bare->key);
    } else if (const std::optional<std::string> node = named_after(draft, text)) {
      draft.propose(diagnostic, *node);
    } else if (!draft.propose_nearest(diagnostic, text, is_key ? keys_ : names_) &&
               !draft.propose_nearest(diagnostic, text, is_key ? names_ : keys_) && is_key && !begins) {
      draft.propose_nearest(diagnostic, std::string(kSection) + text, keys_);
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
      if (schema.contains("x-component")) resolve_nested(value, place);
      if (schema.contains("x-path")) resolve_path(value, schema, place);
      const std::string reference = schema.value("x-reference", "");
      if (reference == "metric") resolve_metric(value, place);
      if (reference == "port") check_ports(value, place);
    });
  }

  [[nodiscard]] const std::optional<MetricReference>& metric() const { return metric_; }

 private:
  void resolve_nested(Json& value, const std::string& place) {
    const Json* const use = find_member(value, "use");
    Json* const with = find_value(value, "/with");
    if (use == nullptr || !use->is_string() || with == nullptr) return;
    const ComponentInfo* const inner = draft_.catalogue.find(use->get_ref<const std::string&>());
    if (inner != nullptr) resolve(*with, *inner, place + "/with");
  }

  void resolve_path(Json& value, const Json& schema, const std::string& place) {
    if (!value.is_string()) return;
    const auto& text = value.get_ref<const std::string&>();
    const Json* const usual = find_member(schema, "default");
    if (text.empty() && usual != nullptr && *usual == value) return;  // what none is called
    if (text.empty()) return refuse_path(place, "a path is empty", "name a file or a folder");
    if (text.find('\0') != std::string::npos) {
      return refuse_path(place, "a path holds the character NUL (\\u0000), which no name of a file can", "remove it");
    }
    if (const auto path = draft_.resolved.path(place)) {
      value = std::filesystem::absolute(*path).lexically_normal().string();
    }
  }

  void refuse_path(const std::string& place, std::string message, std::string label) {
    if (draft_.has_error_under(place)) return;
    Diagnostic diagnostic = draft_.at_value(place, "no-path", std::move(message));
    diagnostic.label = std::move(label);
    draft_.add(std::move(diagnostic));
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
    if (each.known && !each.owner) resolve(each.node, References(draft, metrics, draft.title(id), &each));
  }
  for (std::vector<Attached>* const list : {&draft.stop, &draft.observe}) {
    for (Attached& each : *list) resolve(each, References(draft, metrics, each.use, nullptr));
  }
}

namespace {

/// The validations that something decides on, and what does.
std::vector<std::pair<std::size_t, std::string>> deciding(const Draft& draft, const MetricTable& metrics) {
  std::vector<std::pair<std::size_t, std::string>> found;
  const auto add = [&](const std::string& text, std::string who) {
    if (const MetricReference* const metric = metrics.find(text))
      found.emplace_back(metric->validation, std::move(who));
  };
  const Json* const best = draft.resolved.find("/checkpoint/keep/best/metric");
  if (best != nullptr && best->is_string()) add(best->get<std::string>(), "\"checkpoint.keep.best\"");
  for (const Attached& each : draft.stop) add(each.metric_key, each.use);
  return found;
}

}  // namespace

namespace {

/// Nodes of one component that must agree in a parameter are parts of what they read, each another one.
bool is_part(const Node& dataset) {
  const Json* const properties =
      dataset.info == nullptr ? nullptr : find_member(dataset.info->parameters, "properties");
  if (properties == nullptr) return false;
  const auto all = properties->items();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& each) { return find_member(each.value(), "x-agree") != nullptr; });
}

/// The datasets whose samples the stream has, all of them: not what a part is a part of.
std::vector<NodeId> whole_datasets(const Draft& draft, const DraftPath& path) {
  std::vector<NodeId> found;
  std::vector<NodeId> open;
  if (path.end) open.push_back(*path.end);
  std::vector<bool> seen(draft.nodes.size(), false);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    const DraftNode& each = draft.nodes[id];
    if (each.node.kind == "dataset") found.push_back(id);
    if (!is_part(each.node)) open.insert(open.end(), each.feeds.begin(), each.feeds.end());
  }
  return found;
}

}  // namespace

void warn_of_tuning_on_test(Draft& draft, const MetricTable& metrics) {
  if (!draft.test) return;
  const auto same = [&](NodeId a, NodeId b) {
    const Node& left = draft.nodes[a].node;
    const Node& right = draft.nodes[b].node;
    return a == b ||
           (left.info != nullptr && left.info == right.info && left.inputs == right.inputs && left.with == right.with);
  };
  for (const auto& [validation, who] : deciding(draft, metrics)) {
    for (const NodeId ours : whole_datasets(draft, *draft.test)) {
      for (const NodeId theirs : whole_datasets(draft, draft.validations[validation].path)) {
        if (!same(ours, theirs)) continue;
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
}

}  // namespace tenon::core
