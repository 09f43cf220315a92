// Types of the data plane: what each dataset gives, each transform makes of it, and the loader stacks.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/batches.hpp>
#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

TypedValue* find_value(std::vector<TypedValue>& fields, std::string_view name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const TypedValue& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

class StreamTyper {
 public:
  StreamTyper(Draft& draft, NodeId id) : draft_(draft), id_(id), each_(draft.nodes[id]), rules_(each_.parameters) {}

  void type() {
    std::vector<TypedValue> in = gather();
    if (each_.node.kind == "loader") {
      type_batches(draft_, id_, std::move(in), in_open_);
    } else if (works_on_batches(each_) && each_.feeds.empty()) {
      each_.out_open = true;  // told that it stands at the wrong place
    } else if (each_.known) {
      take(in);
      give(in);
    }
    publish();
  }

 private:
  /// The fields that come in: of several streams, the first one's word counts.
  std::vector<TypedValue> gather() {
    std::vector<TypedValue> in;
    // An input that is missing has been told.
    in_open_ = each_.feeds.empty() && (each_.node.kind != "dataset" || !each_.in.empty());
    for (const NodeId source : each_.feeds) {
      const DraftNode& from = draft_.nodes[source];
      in_open_ = in_open_ || from.out_open;
      for (const TypedValue& field : from.fields) {
        if (find_value(in, field.name) == nullptr) in.push_back(field);
      }
    }
    return in;
  }

  /// Where the error belongs: the parameter that names the field, or the edge.
  [[nodiscard]] std::string place_of(const NamedPort& port) const {
    const std::string& rule = port.rule->name;
    if (!rule.starts_with('$')) return each_.node.pointer + "/in";
    const std::string pointer = each_.node.pointer + "/with/" + escape_segment(rule.substr(1));
    return draft_.resolved.locate(pointer).exact ? pointer : each_.node.pointer + "/in";
  }

  void take(std::vector<TypedValue>& in) {
    for (const NamedPort& port : each_.in) {
      if (port.name.empty()) continue;
      const TypedValue* const field = find_value(in, port.name);
      if (field != nullptr) {
        compare(port, *field);
      } else if (!port.rule->optional && !in_open_ && !each_.feeds.empty()) {
        report_missing(port, in);
      }
    }
  }

  void report_missing(const NamedPort& port, const std::vector<TypedValue>& in) {
    const DraftNode& source = draft_.nodes[each_.feeds.front()];
    std::vector<std::string> names;
    std::vector<std::string> texts;
    for (const TypedValue& field : in) {
      names.push_back(field.name);
      texts.push_back(fmt::format("{} {}", field.name, to_string(field.type)));
    }
    const std::string place = place_of(port);
    Diagnostic diagnostic = draft_.at_value(place, "unknown-field",
                                            fmt::format("{} wants field {}, which {} does not give", draft_.title(id_),
                                                        core::quoted(port.name), core::quoted(source.node.name)));
    if (place.ends_with("/in")) {
      if (const auto near = nearest(port.name, names))
        diagnostic.label = fmt::format("nearest: {}", core::quoted(*near));
    } else {
      draft_.propose_nearest(diagnostic, port.name, names);
    }
    diagnostic.notes.push_back(fmt::format("fields of {}: {}", core::quoted(source.node.name), list_names(texts)));
    draft_.point_at(diagnostic, each_.feeds.front(), source.node.use());
    draft_.add(std::move(diagnostic));
    each_.out_open = true;
  }

  void compare(const NamedPort& port, const TypedValue& field) {
    const PortRules::Verdict verdict = rules_.take(*port.rule, port.name, field.type);
    if (verdict == PortRules::Verdict::kFits) return;
    const std::string from = draft_.nodes[field.from].node.name;
    Diagnostic diagnostic = draft_.at_value(
        place_of(port), verdict == PortRules::Verdict::kDtype ? "dtype-mismatch" : "shape-mismatch",
        fmt::format("{} wants {} as {}, but {} gives {}", draft_.title(id_), core::quoted(port.name),
                    describe_rule(*port.rule, each_.parameters), core::quoted(from), to_string(field.type)));
    if (const std::string bound = rules_.bound(*port.rule); !bound.empty()) diagnostic.notes.push_back(bound);
    draft_.point_at(diagnostic, field.from, fmt::format("gives {}", to_string(field.type)));
    draft_.add(std::move(diagnostic));
  }

  void give(std::vector<TypedValue>& in) {
    std::vector<TypedValue>& out = each_.fields;
    const bool retypes_any = each_.out_open;  // a rule whose field is not known may be about each of them
    for (const NamedPort& port : each_.out) {
      if (port.rule->pass) {
        each_.out_open = each_.out_open || in_open_;
        for (const TypedValue& field : in) {
          const std::vector<std::string>& except = port.rule->except;
          if (std::find(except.begin(), except.end(), field.name) != except.end()) continue;
          out.push_back(retypes_any ? TypedValue{field.name, ValueType::unknown(), id_} : field);
        }
        continue;
      }
      const TypedValue* const same = find_value(in, port.name);
      TypedValue made{port.name, rules_.give(*port.rule, same == nullptr ? nullptr : &same->type), id_};
      if (TypedValue* const there = find_value(out, port.name)) {
        *there = std::move(made);
      } else {
        out.push_back(std::move(made));
      }
    }
  }

  void publish() {
    each_.node.open = each_.out_open;
    for (const TypedValue& field : each_.fields) {
      if (std::optional<FieldSpec> spec = field.type.field(field.name)) {
        each_.node.out.push_back(std::move(*spec));
      } else {
        each_.node.open = true;
      }
    }
  }

  Draft& draft_;
  NodeId id_;
  DraftNode& each_;
  PortRules rules_;
  bool in_open_ = false;
};

}  // namespace

void type_streams(Draft& draft) {
  for (const NodeId id : draft.order) {
    if (is_data_kind(draft.nodes[id].node.kind)) StreamTyper(draft, id).type();
  }
}

}  // namespace tenon::core
