// Types of the step plane on each path.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/stages.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

/// A finding that may come up on several paths and is told once.
struct PathFinding {
  Diagnostic diagnostic;
  NodeId node = 0;
  std::vector<std::string> paths;
};

bool is_float(Dtype dtype) {
  return dtype == Dtype::kFloat16 || dtype == Dtype::kBfloat16 || dtype == Dtype::kFloat32 || dtype == Dtype::kFloat64;
}

class StepTyper {
 public:
  explicit StepTyper(Draft& draft) : draft_(draft), visits_(draft.nodes.size(), 0), outputs_(draft.nodes.size()) {}

  void type(const DraftPath& path) {
    for (const NodeId id : path.step) outputs_[id].clear();
    for (const NodeId id : path.step) type(path, id);
  }

  /// Of predict, whose steps have just been typed.
  void type_output(const DraftPath& path, const DraftOutput& output) {
    const Source found = source_of(path, output.wire);
    if (found.value == nullptr) {
      if (!found.open) draft_.add(field_error(path, output.wire, *found.values));
      return;
    }
    if (is_list(output.wire, found.value->type)) {
      report_list(path, output.wire, *found.value);
      return;
    }
    using Form = PredictedOutput::Form;
    const Form form = output.output.form;
    if (form == Form::kValue) return;
    const ValueType& type = found.value->type;
    const bool of_classes = form != Form::kSigmoid;
    const bool is_flat = of_classes && !type.rest && type.head.size() < 2;
    if ((!type.dtype || is_float(*type.dtype)) && !is_flat) return;
    Diagnostic diagnostic =
        draft_.at_value(output.as_pointer, is_flat ? "shape-mismatch" : "dtype-mismatch",
                        fmt::format("{} wants {}, but \"{}.{}\" gives {}", name_of(form),
                                    of_classes ? "float[N, classes, *]" : "float[*]", output.wire.wire.source,
                                    output.wire.wire.output, to_string(type)));
    draft_.point_at(
        diagnostic, found.value->from,
        fmt::format("{} gives {}", core::quoted(draft_.nodes[found.value->from].node.name), to_string(type)));
    draft_.add(std::move(diagnostic));
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
      const Source found = source_of(path, wire);
      const TypedValue* const value = found.value;
      if (value == nullptr && !found.open) note(path, id, wire.pointer, field_error(path, wire, *found.values));
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

  /// What a wire gives on a path.
  struct Source {
    const TypedValue* value = nullptr;                ///< Null where nothing is known of it, or it is not there.
    const std::vector<TypedValue>* values = nullptr;  ///< All that its source gives.
    bool open = true;                                 ///< There may be more than `values`.
  };

  [[nodiscard]] Source source_of(const DraftPath& path, const DraftWire& wire) const {
    Source found;
    if (wire.wire.from_batch()) {
      if (!path.end) return found;
      const DraftNode& end = draft_.nodes[*path.end];
      found.values = &end.fields;
      found.open = end.out_open;
    } else if (wire.source) {
      found.values = &outputs_[*wire.source];
    }
    if (found.values == nullptr) return found;
    for (const TypedValue& value : *found.values) {
      if (value.name == wire.wire.output) found.value = &value;
    }
    return found;
  }

  /// A field that the loader joins from the samples' lists: its first axis alone is of no name.
  [[nodiscard]] static bool is_list(const DraftWire& wire, const ValueType& type) {
    return wire.wire.from_batch() && !type.head.empty() && !type.head.front().fixed() &&
           type.head.front().symbol.empty();
  }

  /// Of predict, which shows rows.
  void report_list(const DraftPath& path, const DraftWire& wire, const TypedValue& value) {
    Diagnostic diagnostic = draft_.at_value(
        wire.pointer, "shape-mismatch",
        fmt::format(
            "predict shows a row a sample, but \"batch.{}\" is {}, the lists of all samples one behind the other",
            wire.wire.output, to_string(value.type)));
    diagnostic.label = fmt::format("\"pad\" of loader {} in the place of \"lists\"", core::quoted(path.path.loader));
    draft_.point_at(diagnostic, value.from,
                    fmt::format("{} gives the lists", core::quoted(draft_.nodes[value.from].node.name)));
    draft_.add(std::move(diagnostic));
  }

  void note(const DraftPath& path, NodeId id, std::string key, Diagnostic diagnostic) {
    const auto [found, added] = findings_.try_emplace(std::move(key));
    if (added) {
      found->second.diagnostic = std::move(diagnostic);
      found->second.node = id;
    }
    found->second.paths.push_back(path.path.name);
  }

  [[nodiscard]] Diagnostic field_error(const DraftPath& path, const DraftWire& wire,
                                       const std::vector<TypedValue>& fields) {
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
    draft_.point_at(diagnostic, *path.end, fmt::format("the batch of {}", path.path.name));
    return diagnostic;
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

void type_paths(Draft& draft) {
  StepTyper typer(draft);
  for (const DraftPath* const path : draft.paths()) typer.type(*path);
  typer.report();
  if (!draft.predict) return;
  for (const DraftOutput& output : draft.outputs) typer.type_output(*draft.predict, output);
}

}  // namespace tenon::core
