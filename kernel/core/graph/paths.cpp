// The paths of fit, validate and test: what each reaches, and the types of the step plane on each.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, 1> kLoader{"loader"};
constexpr std::array<std::string_view, 1> kLoss{"loss"};
constexpr std::array<std::string_view, 1> kMetric{"metric"};
constexpr std::array<std::string_view, 1> kPrecision{"precision"};

// What a path holds -------------------------------------------------------------------------------------------------------

/// All nodes that the roots read, directly or not, in the order of the graph.
std::vector<NodeId> closure(const Draft& draft, std::vector<NodeId> roots, const std::vector<std::size_t>& ranks) {
  std::vector<bool> seen(draft.nodes.size(), false);
  std::vector<NodeId> reached;
  while (!roots.empty()) {
    const NodeId id = roots.back();
    roots.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    reached.push_back(id);
    const std::vector<NodeId>& feeds = draft.nodes[id].feeds;
    roots.insert(roots.end(), feeds.begin(), feeds.end());
  }
  // Nodes on a circle have no rank.
  std::erase_if(reached, [&](NodeId id) { return ranks[id] == draft.nodes.size(); });
  std::sort(reached.begin(), reached.end(), [&](NodeId a, NodeId b) { return ranks[a] < ranks[b]; });
  return reached;
}

std::vector<std::string> names_of(const Draft& draft, const std::vector<NodeId>& ids) {
  std::vector<std::string> names;
  std::transform(ids.begin(), ids.end(), std::back_inserter(names),
                 [&](NodeId id) { return draft.nodes[id].node.name; });
  return names;
}

/// The loader that a section's "data" names.
std::optional<NodeId> find_loader(Draft& draft, const std::string& section) {
  const std::string pointer = fmt::format("/{}/data", section);
  const Json* const data = draft.resolved.find(pointer);
  if (data == nullptr || !data->is_string()) return std::nullopt;
  const std::string name = data->get<std::string>();
  const DraftNode* const node = draft.find(name);
  if (node != nullptr && node->behind_loader) return std::nullopt;  // told where it stands behind the loader
  if (node != nullptr && (node->node.kind == "dataset" || node->node.kind == "transform")) {
    const NodeId id = draft.index.at(name);
    Diagnostic diagnostic =
        draft.at_value(pointer, "wrong-kind",
                       fmt::format("\"{}.data\" needs the loader at the end of a stream, but {} is {}", section,
                                   core::quoted(name), with_article(node->node.kind)));
    std::vector<std::string> behind;
    for (const DraftNode& each : draft.nodes) {
      const bool reads = std::find(each.feeds.begin(), each.feeds.end(), id) != each.feeds.end();
      if (reads && each.node.kind == "loader") behind.push_back(each.node.name);
    }
    if (behind.size() == 1) draft.propose(diagnostic, behind.front());
    draft.point_at(diagnostic, id, node->node.use());
    draft.add(std::move(diagnostic));
    return std::nullopt;
  }
  return draft.refer(pointer, name, {fmt::format("\"{}.data\"", section)}, kLoader);
}

void read_losses(Draft& draft) {
  const Json* const loss = draft.resolved.find("/fit/loss");
  if (loss == nullptr) return;
  const auto add = [&](const std::string& pointer, const std::string& name, double weight, bool is_key) {
    if (const auto id = draft.refer(pointer, name, {"\"fit.loss\""}, kLoss, is_key)) {
      draft.losses.emplace_back(*id, weight);
    }
  };
  if (loss->is_string()) add("/fit/loss", loss->get<std::string>(), 1.0, false);
  if (loss->is_object()) {
    for (const auto& [name, weight] : loss->items()) {
      if (weight.is_number()) add(child_pointer("/fit/loss", name), name, weight.get<double>(), true);
    }
  }
  std::sort(draft.losses.begin(), draft.losses.end());  // ids follow names
}

std::vector<NodeId> read_metrics(Draft& draft, const std::string& section) {
  std::vector<NodeId> found;
  const std::string pointer = fmt::format("/{}/metrics", section);
  const Json* const metrics = draft.resolved.find(pointer);
  if (metrics == nullptr || !metrics->is_array()) return found;
  for (std::size_t i = 0; i < metrics->size(); ++i) {
    if (!(*metrics)[i].is_string()) continue;
    const std::string name = (*metrics)[i].get<std::string>();
    const std::string place = child_pointer(pointer, i);
    const std::optional<NodeId> id = draft.refer(place, name, {fmt::format("\"{}.metrics\"", section)}, kMetric);
    if (id && std::find(found.begin(), found.end(), *id) == found.end()) found.push_back(*id);
  }
  return found;
}

// Types -------------------------------------------------------------------------------------------------------------------

/// A finding that may come up on several paths and is told once.
struct PathFinding {
  Diagnostic diagnostic;
  NodeId node = 0;
  std::vector<std::string> paths;
};

class StepTyper {
 public:
  explicit StepTyper(Draft& draft) : draft_(draft), visits_(draft.nodes.size(), 0) {}

  void type(const DraftPath& path) {
    outputs_.assign(draft_.nodes.size(), {});
    for (const NodeId id : path.step) type(path, id);
  }

  void report() {
    for (auto& [key, finding] : findings_) {
      if (finding.paths.size() < visits_[finding.node]) {
        finding.diagnostic.notes.push_back(fmt::format("on the stream of {}", fmt::join(finding.paths, " and ")));
      }
      draft_.add(std::move(finding.diagnostic));
    }
  }

 private:
  void type(const DraftPath& path, NodeId id) {
    DraftNode& each = draft_.nodes[id];
    PortRules rules(each.parameters);
    for (const DraftWire& wire : each.wires) {
      const TypedValue* const value = source_of(path, id, wire);
      if (value == nullptr || wire.rule == nullptr) continue;
      const PortRules::Verdict verdict = rules.take(*wire.rule, wire.wire.port, value->type);
      if (verdict != PortRules::Verdict::kFits) report_mismatch(path, id, wire, *value, verdict, rules);
    }
    for (const NamedPort& port : each.out) {
      if (port.name.empty()) continue;
      outputs_[id].push_back({port.name, rules.give(*port.rule, nullptr), id});
    }
    if (visits_[id]++ > 0) return;
    each.fields = outputs_[id];
    each.node.open = each.out_open;
    for (const TypedValue& output : outputs_[id]) {
      if (std::optional<FieldSpec> spec = output.type.field(output.name)) {
        each.node.out.push_back(std::move(*spec));
      } else {
        each.node.open = true;
      }
    }
  }

  /// Null where nothing is known of the value, or it is not there, which is reported.
  const TypedValue* source_of(const DraftPath& path, NodeId id, const DraftWire& wire) {
    const std::vector<TypedValue>* values = nullptr;
    bool open = true;
    if (wire.wire.from_batch()) {
      if (!path.loader) return nullptr;
      const DraftNode& loader = draft_.nodes[*path.loader];
      values = &loader.fields;
      open = loader.out_open;
    } else if (wire.source) {
      values = &outputs_[*wire.source];
    }
    if (values == nullptr) return nullptr;
    for (const TypedValue& value : *values) {
      if (value.name == wire.wire.output) return &value;
    }
    if (!open) report_field(path, id, wire, *values);
    return nullptr;
  }

  void note(const DraftPath& path, NodeId id, std::string key, Diagnostic diagnostic) {
    const auto [found, added] = findings_.try_emplace(std::move(key));
    if (added) {
      found->second.diagnostic = std::move(diagnostic);
      found->second.node = id;
    }
    found->second.paths.push_back(path.path.name);
  }

  void report_field(const DraftPath& path, NodeId id, const DraftWire& wire, const std::vector<TypedValue>& fields) {
    std::vector<std::string> names;
    std::vector<std::string> texts;
    for (const TypedValue& field : fields) {
      names.push_back(field.name);
      texts.push_back(fmt::format("{} {}", field.name, to_string(field.type)));
    }
    Diagnostic diagnostic = draft_.at_value(wire.pointer, "unknown-field",
                                            fmt::format("the batch has no field {}", core::quoted(wire.wire.output)));
    if (draft_.propose_nearest(diagnostic, wire.wire.output, names)) {
      draft_.propose(diagnostic, fmt::format("{}.{}", kBatch, *nearest(wire.wire.output, names)));
    }
    diagnostic.notes.push_back(fmt::format("fields of {}: {}", core::quoted(path.path.data), list_names(texts)));
    draft_.point_at(diagnostic, *path.loader, fmt::format("the batch of {}", path.path.name));
    note(path, id, wire.pointer, std::move(diagnostic));
  }

  void report_mismatch(const DraftPath& path, NodeId id, const DraftWire& wire, const TypedValue& value,
                       PortRules::Verdict verdict, const PortRules& rules) {
    const bool is_dtype = verdict == PortRules::Verdict::kDtype;
    const std::string source = wire.wire.source + "." + wire.wire.output;
    const std::string gives = to_string(value.type);
    Diagnostic diagnostic = draft_.at_value(
        wire.pointer, is_dtype ? "dtype-mismatch" : "shape-mismatch",
        fmt::format("{} port {} wants {}, but {} gives {}", draft_.title(id), core::quoted(wire.wire.port),
                    describe_rule(*wire.rule, draft_.nodes[id].parameters), core::quoted(source), gives));
    if (!is_dtype) {
      if (const std::string bound = rules.bound(*wire.rule); !bound.empty()) diagnostic.notes.push_back(bound);
    }
    const auto is_float = [](Dtype dtype) {
      return dtype == Dtype::kFloat16 || dtype == Dtype::kBfloat16 || dtype == Dtype::kFloat32 ||
             dtype == Dtype::kFloat64;
    };
    const std::vector<Dtype>& wanted = wire.rule->dtypes;
    if (is_dtype && wire.wire.from_batch() && !is_float(*value.type.dtype) &&
        std::all_of(wanted.begin(), wanted.end(), is_float)) {
      diagnostic.label = fmt::format("put a transform:to_float before {}", core::quoted(path.path.data));
    }
    draft_.point_at(diagnostic, value.from,
                    fmt::format("{} gives {}", core::quoted(draft_.nodes[value.from].node.name), gives));
    std::string key = wire.pointer + " " + diagnostic.message;
    note(path, id, std::move(key), std::move(diagnostic));
  }

  Draft& draft_;
  std::vector<std::size_t> visits_;               ///< Paths that have reached each node.
  std::vector<std::vector<TypedValue>> outputs_;  ///< On the present path.
  std::map<std::string, PathFinding> findings_;
};

}  // namespace

void build_paths(Draft& draft) {
  std::vector<std::size_t> ranks(draft.nodes.size(), draft.nodes.size());
  for (std::size_t i = 0; i < draft.order.size(); ++i) ranks[draft.order[i]] = i;

  const auto make = [&](const std::string& section, std::vector<NodeId> roots, std::vector<NodeId> metrics) {
    DraftPath path;
    path.path.name = section;
    path.loader = find_loader(draft, section);
    if (path.loader) {
      path.path.data = draft.nodes[*path.loader].node.name;
      path.stream = closure(draft, {*path.loader}, ranks);
    }
    path.step = closure(draft, std::move(roots), ranks);
    path.metrics = std::move(metrics);
    path.path.stream = names_of(draft, path.stream);
    path.path.step = names_of(draft, path.step);
    path.path.metrics = names_of(draft, path.metrics);
    return path;
  };
  const auto has = [&](std::string_view section) {
    const Json* const value = find_member(draft.resolved.value(), section);
    return value != nullptr && value->is_object();
  };
  if (has("fit")) {
    read_losses(draft);
    std::vector<NodeId> roots;
    for (const auto& [id, weight] : draft.losses) roots.push_back(id);
    draft.fit = make("fit", std::move(roots), {});
    const Json* const precision = draft.resolved.find("/fit/precision");
    if (precision != nullptr && precision->is_string()) {
      draft.precision = draft.refer("/fit/precision", precision->get<std::string>(), {"\"fit.precision\""}, kPrecision);
    }
  }
  for (const char* const section : {"validate", "test"}) {
    if (!has(section)) continue;
    std::vector<NodeId> metrics = read_metrics(draft, section);
    std::vector<NodeId> roots = metrics;
    (std::string_view(section) == "test" ? draft.test : draft.validate) =
        make(section, std::move(roots), std::move(metrics));
  }

  StepTyper typer(draft);
  for (const std::optional<DraftPath>* const path : {&draft.fit, &draft.validate, &draft.test}) {
    if (*path) typer.type(**path);
  }
  typer.report();
}

}  // namespace tenon::core
