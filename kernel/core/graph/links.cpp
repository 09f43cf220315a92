// Follows `in`, `of`, `field` and `groups` of each node.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/schema/checker.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, 1> kModel{"model"};
constexpr std::array<std::string_view, 1> kOptimizer{"optimizer"};
constexpr std::array<std::string_view, 1> kDataset{"dataset"};
constexpr std::array<std::string_view, 3> kStream{"dataset", "transform", "loader"};

/// A text, or the texts of a list, each with its pointer.
std::vector<std::pair<std::string, std::string>> texts_at(const Json& value, const std::string& pointer) {
  std::vector<std::pair<std::string, std::string>> texts;
  if (value.is_string()) texts.emplace_back(pointer, value.get<std::string>());
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i].is_string()) texts.emplace_back(child_pointer(pointer, i), value[i].get<std::string>());
    }
  }
  return texts;
}

class Linker {
 public:
  Linker(Draft& draft, NodeId id)
      : draft_(draft), id_(id), each_(draft.nodes[id]), referrer_{draft.title(id), each_.disabled} {}

  void link() {
    check_keys();
    const std::string& kind = each_.node.kind;
    if (is_data_kind(kind)) link_streams();
    if (is_step_kind(kind)) link_ports();
    if (kind == "optimizer" || kind == "exporter") link_targets(kModel, kind == "optimizer");
    if (kind == "schedule") {
      link_targets(kOptimizer, false);
      link_field();
    }
    if (kind == "optimizer") link_groups();
  }

 private:
  [[nodiscard]] const Json* member(std::string_view key) const { return find_member(*each_.json, key); }
  [[nodiscard]] std::string at(std::string_view key) const { return child_pointer(each_.node.pointer, key); }

  /// Keys that nodes of this kind do not have.
  void check_keys() {
    const std::string& kind = each_.node.kind;
    const bool attached = kind == "optimizer" || kind == "schedule" || kind == "exporter";
    const auto refuse = [&](std::string_view key, bool allowed, std::string fix) {
      if (allowed || member(key) == nullptr) return;
      Diagnostic diagnostic =
          draft_.at_key(at(key), "misplaced-key", fmt::format("{} takes no \"{}\"", referrer_.who, key));
      diagnostic.label = std::move(fix);
      draft_.add(std::move(diagnostic));
    };
    refuse("in", is_data_kind(kind) || is_step_kind(kind), attached ? "\"of\" names what it is attached to" : "");
    refuse("of", attached, is_data_kind(kind) || is_step_kind(kind) ? "\"in\" names where its inputs come from" : "");
    refuse("groups", kind == "optimizer", "only an optimizer has groups");
    refuse("field", kind == "schedule", "only a schedule has a field");
  }

  void missing(std::string_view key, std::string message, std::string label) {
    if (draft_.is_quiet(each_.node.name) || draft_.has_error_under(at(key))) return;
    Diagnostic diagnostic = draft_.at_key(each_.node.pointer, "missing-key", std::move(message));
    diagnostic.label = std::move(label);
    draft_.add(std::move(diagnostic));
  }

  // Data plane ------------------------------------------------------------------------------------------------------------

  void link_streams() {
    const std::string& kind = each_.node.kind;
    const Json* const in = member("in");
    const bool wants_datasets = kind == "dataset" && (each_.in_open || !each_.in.empty());
    if (in == nullptr) {
      if (kind == "dataset") return;
      missing("in", fmt::format("{} has no input", referrer_.who), "add \"in\" with the name of a dataset or transform");
      return;
    }
    const std::string pointer = at("in");
    if (in->is_object()) {
      Diagnostic diagnostic =
          draft_.at_value(pointer, "wrong-plane", fmt::format("{} reads a stream, not tensors by port", referrer_.who));
      diagnostic.label = "write the name of a node: \"in\": \"…\"";
      draft_.add(std::move(diagnostic));
      return;
    }
    if (kind == "dataset" && !wants_datasets) {
      Diagnostic diagnostic =
          draft_.at_key(pointer, "misplaced-key", fmt::format("{} reads no other dataset", referrer_.who));
      diagnostic.label = "remove \"in\"";
      draft_.add(std::move(diagnostic));
      return;
    }
    const auto sources = texts_at(*in, pointer);
    if (kind != "dataset" && in->is_array() && in->size() != 1) {
      draft_.add(draft_.at_value(pointer, "wrong-type",
                                 fmt::format("{} reads one stream, not {}", referrer_.who, in->size())));
    }
    for (const auto& [place, name] : sources) link_stream(place, name);
  }

  void link_stream(const std::string& place, const std::string& name) {
    const DraftNode* const source = draft_.find(name);
    if (source != nullptr && !source->node.kind.empty() && !is_data_kind(source->node.kind)) {
      Diagnostic diagnostic = draft_.at_value(place, "wrong-plane",
                                              fmt::format("{} reads a stream, but {} is {}", referrer_.who,
                                                          core::quoted(name), with_article(source->node.kind)));
      diagnostic.label = "name a dataset or transform";
      draft_.point_at(diagnostic, draft_.index.at(name), source->node.use());
      draft_.add(std::move(diagnostic));
      return;
    }
    const bool is_dataset = each_.node.kind == "dataset";
    const auto kinds = is_dataset ? std::span<const std::string_view>(kDataset) : kStream;
    const std::optional<NodeId> found = draft_.refer(place, name, referrer_, kinds);
    if (!found) return;
    if (draft_.nodes[*found].node.kind == "loader") {
      Diagnostic diagnostic = draft_.at_value(
          place, "behind-loader", fmt::format("{} stands behind loader {}", referrer_.who, core::quoted(name)));
      diagnostic.label = each_.node.kind == "loader"
                             ? "a stream has one loader, at its end"
                             : "transforms of batches are not supported yet: put it before the loader";
      draft_.point_at(diagnostic, *found, "the stream ends here");
      draft_.add(std::move(diagnostic));
      each_.behind_loader = true;
      return;
    }
    each_.node.inputs.push_back(draft_.nodes[*found].node.name);
    each_.feeds.push_back(*found);
  }

  // Step plane ------------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::vector<std::string> names(const std::vector<NamedPort>& ports) const {
    std::vector<std::string> all;
    for (const NamedPort& port : ports) all.push_back(port.name);
    return all;
  }

  [[nodiscard]] std::string port_note() const {
    std::vector<std::string> texts;
    for (const NamedPort& port : each_.in) {
      texts.push_back(fmt::format("{} {}{}", port.name, describe_rule(*port.rule, each_.node.with),
                                  port.rule->optional ? " (optional)" : ""));
    }
    return fmt::format("ports: {}", list_names(texts));
  }

  void link_ports() {
    const Json* const in = member("in");
    const std::string pointer = at("in");
    std::vector<std::string> meant;  // ports that a misspelt key stands for
    if (in != nullptr && !in->is_object()) {
      Diagnostic diagnostic =
          draft_.at_value(pointer, "wrong-plane", fmt::format("{} takes tensors by port", referrer_.who));
      const std::string port = each_.in.empty() ? "port" : each_.in.front().name;
      diagnostic.label = fmt::format("write \"in\": {{ \"{}\": \"node.output\" }}", port);
      if (!each_.in.empty()) diagnostic.notes.push_back(port_note());
      draft_.add(std::move(diagnostic));
      return;
    }
    if (in != nullptr) {
      for (const auto& [key, value] : in->items()) link_port(child_pointer(pointer, key), key, value, meant);
    }
    // In the order of the component's ports, whatever the order in the file.
    const auto rank = [&](const DraftWire& wire) {
      const auto found = std::find_if(each_.in.begin(), each_.in.end(),
                                      [&](const NamedPort& port) { return port.name == wire.wire.port; });
      return found - each_.in.begin();
    };
    std::stable_sort(each_.wires.begin(), each_.wires.end(), [&](const DraftWire& a, const DraftWire& b) {
      return std::pair(rank(a), a.wire.port) < std::pair(rank(b), b.wire.port);
    });
    check_required(in, meant);
  }

  void check_required(const Json* in, const std::vector<std::string>& meant) {
    if (draft_.is_quiet(each_.node.name)) return;
    for (const NamedPort& port : each_.in) {
      const bool wired = in != nullptr && in->contains(port.name);
      if (port.rule->optional || wired || std::find(meant.begin(), meant.end(), port.name) != meant.end()) continue;
      const std::string message = fmt::format("{} needs its port {}", referrer_.who, core::quoted(port.name));
      Diagnostic diagnostic = in == nullptr ? draft_.at_key(each_.node.pointer, "unwired-port", message)
                                            : draft_.at_key(at("in"), "unwired-port", message);
      diagnostic.label = fmt::format("add \"{}\": \"node.output\"", port.name);
      diagnostic.notes.push_back(port_note());
      draft_.add(std::move(diagnostic));
    }
  }

  void link_port(const std::string& place, const std::string& key, const Json& value, std::vector<std::string>& meant) {
    DraftWire wire;
    wire.pointer = place;
    wire.wire.port = key;
    const auto known = std::find_if(each_.in.begin(), each_.in.end(),
                                    [&](const NamedPort& port) { return port.name == key; });
    if (known != each_.in.end()) {
      wire.rule = known->rule;
    } else if (!each_.in_open) {
      Diagnostic diagnostic =
          draft_.at_key(place, "unknown-port", fmt::format("{} has no port {}", referrer_.who, core::quoted(key)));
      const std::optional<std::string> near = draft_.propose_nearest(diagnostic, key, names(each_.in));
      if (near) meant.push_back(*near);
      diagnostic.notes.push_back(port_note());
      draft_.add(std::move(diagnostic));
      return;
    }
    if (!value.is_string()) return;
    if (link_wire(wire, value.get<std::string>())) each_.wires.push_back(std::move(wire));
  }

  /// Splits and follows "source.output". False when nothing can be made of it.
  bool link_wire(DraftWire& wire, const std::string& text) {
    const std::size_t dot = text.find('.');
    const std::string source = text.substr(0, dot);
    wire.wire.source = source;
    wire.wire.output = dot == std::string::npos ? "" : text.substr(dot + 1);
    if (source == kBatch) {
      if (!wire.wire.output.empty()) return true;
      Diagnostic diagnostic =
          draft_.at_value(wire.pointer, "bad-wire", "\"batch\" alone is no tensor: name one of its fields");
      diagnostic.label = fmt::format("write \"batch.{}\" or another field", wire.wire.port);
      draft_.add(std::move(diagnostic));
      return false;
    }
    std::optional<NodeId> found = find_source(wire, source);
    if (!found) return false;
    const DraftNode& node = draft_.nodes[*found];
    wire.source = found;
    wire.wire.source = node.node.name;
    each_.feeds.push_back(*found);
    return check_output(wire, node, *found);
  }

  std::optional<NodeId> find_source(const DraftWire& wire, const std::string& source) {
    const auto known = draft_.index.find(source);
    if (known == draft_.index.end()) {
      Diagnostic diagnostic =
          draft_.at_value(wire.pointer, "unknown-node", fmt::format("there is no node {}", core::quoted(source)));
      std::vector<std::string> candidates{std::string(kBatch)};
      for (const DraftNode& each : draft_.nodes) {
        if (is_step_kind(each.node.kind) && (each.out_open || !each.out.empty())) candidates.push_back(each.node.name);
      }
      const std::string rest = wire.wire.output.empty() ? "" : "." + wire.wire.output;
      const std::optional<std::string> near = draft_.propose_nearest(diagnostic, source, candidates);
      if (near) draft_.propose(diagnostic, *near + rest);
      diagnostic.notes.push_back(fmt::format("sources of tensors: {}", list_names(candidates)));
      draft_.add(std::move(diagnostic));
      return near && *near != kBatch ? std::optional<NodeId>(draft_.index.at(*near)) : std::nullopt;
    }
    const DraftNode& node = draft_.nodes[known->second];
    const std::string& kind = node.node.kind;
    if (kind.empty()) return std::nullopt;
    if (!is_step_kind(kind)) {
      Diagnostic diagnostic = draft_.at_value(
          wire.pointer, "wrong-plane", fmt::format("{} needs a tensor, but {} is {}", referrer_.who, core::quoted(source),
                                                   is_data_kind(kind) ? "a stream" : with_article(kind)));
      if (is_data_kind(kind)) {
        if (!wire.wire.output.empty()) draft_.propose(diagnostic, fmt::format("{}.{}", kBatch, wire.wire.output));
        diagnostic.notes.emplace_back("\"batch\" is the stream of the path that runs");
      }
      draft_.point_at(diagnostic, known->second, node.node.use());
      draft_.add(std::move(diagnostic));
      return std::nullopt;
    }
    if (node.disabled && !each_.disabled) {
      draft_.refuse_disabled(draft_.at_value(wire.pointer, "", ""), referrer_, known->second);
      return std::nullopt;
    }
    return known->second;
  }

  bool check_output(DraftWire& wire, const DraftNode& node, NodeId id) {
    const std::vector<std::string> outputs = names(node.out);
    if (wire.wire.output.empty()) {
      Diagnostic diagnostic = draft_.at_value(
          wire.pointer, "bad-wire", fmt::format("{} names a node, not one of its outputs", core::quoted(node.node.name)));
      if (outputs.size() == 1) draft_.propose(diagnostic, fmt::format("{}.{}", node.node.name, outputs.front()));
      diagnostic.notes.push_back(fmt::format("outputs of {}: {}", draft_.title(id), list_names(outputs)));
      draft_.add(std::move(diagnostic));
      return false;
    }
    if (node.out_open || std::find(outputs.begin(), outputs.end(), wire.wire.output) != outputs.end()) return true;
    Diagnostic diagnostic = draft_.at_value(
        wire.pointer, "unknown-output", fmt::format("{} has no output {}", draft_.title(id), core::quoted(wire.wire.output)));
    const std::optional<std::string> near = draft_.propose_nearest(diagnostic, wire.wire.output, outputs);
    if (near) draft_.propose(diagnostic, fmt::format("{}.{}", node.node.name, *near));
    diagnostic.notes.push_back(fmt::format("outputs: {}", list_names(outputs)));
    draft_.point_at(diagnostic, id, node.node.use());
    draft_.add(std::move(diagnostic));
    if (!near) return false;
    wire.wire.output = *near;
    return true;
  }

  // Attached nodes --------------------------------------------------------------------------------------------------------

  void link_targets(std::span<const std::string_view> kinds, bool many) {
    const Json* const of = member("of");
    const std::string pointer = at("of");
    if (of == nullptr) {
      const std::vector<std::string> candidates = draft_.names_of(kinds);
      missing("of", fmt::format("{} is attached to nothing", referrer_.who),
              candidates.size() == 1 ? fmt::format("add \"of\": {}", core::quoted(candidates.front()))
                                     : fmt::format("add \"of\" with the name of {}", with_article(kinds.front())));
      return;
    }
    if (!many && of->is_array() && of->size() != 1) {
      draft_.add(draft_.at_value(pointer, "wrong-type", fmt::format("{} belongs to one {}, not to {}", referrer_.who,
                                                                    kinds.front(), of->size())));
      return;
    }
    for (const auto& [place, name] : texts_at(*of, pointer)) {
      const std::optional<NodeId> found = draft_.refer(place, name, referrer_, kinds);
      if (!found) continue;
      if (std::find(each_.targets.begin(), each_.targets.end(), *found) != each_.targets.end()) {
        draft_.add(draft_.at_value(place, "duplicate", fmt::format("{} names {} twice", referrer_.who, core::quoted(name))));
        continue;
      }
      each_.targets.push_back(*found);
      each_.node.of.push_back(draft_.nodes[*found].node.name);
    }
  }

  /// Schedulable parameters of an optimizer.
  [[nodiscard]] static std::vector<std::string> schedulable(const ComponentInfo& info) {
    std::vector<std::string> fields;
    const Json* const properties = find_member(info.parameters, "properties");
    if (properties == nullptr) return fields;
    for (const auto& [name, schema] : properties->items()) {
      if (schema.value("x-schedulable", false)) fields.push_back(name);
    }
    return fields;
  }

  [[nodiscard]] static bool has_parameter(const ComponentInfo& info, const std::string& name) {
    const Json* const properties = find_member(info.parameters, "properties");
    return properties != nullptr && properties->contains(name);
  }

  void link_field() {
    const Json* const written = member("field");
    each_.node.field = written != nullptr && written->is_string() ? written->get<std::string>() : "lr";
    if (each_.targets.empty()) return;
    const NodeId target = each_.targets.front();
    const ComponentInfo* const info = draft_.nodes[target].node.info;
    if (info == nullptr) return;
    const std::vector<std::string> fields = schedulable(*info);
    if (std::find(fields.begin(), fields.end(), each_.node.field) != fields.end()) return;

    const std::string what = has_parameter(*info, each_.node.field) ? "cannot be scheduled" : "is not there";
    const std::string message =
        fmt::format("{} drives {} of {}, which {}", referrer_.who, core::quoted(each_.node.field), draft_.title(target), what);
    Diagnostic diagnostic = written != nullptr ? draft_.at_value(at("field"), "not-schedulable", message)
                                               : draft_.at_value(at("of"), "not-schedulable", message);
    if (written != nullptr) draft_.propose_nearest(diagnostic, each_.node.field, fields);
    diagnostic.notes.push_back(fmt::format("parameters of {} that can be: {}", info->id(), list_names(fields)));
    draft_.add(std::move(diagnostic));
  }

  void link_groups() {
    const Json* const groups = member("groups");
    if (groups == nullptr || !groups->is_array() || each_.node.info == nullptr) return;
    const ComponentInfo& info = *each_.node.info;
    const std::vector<std::string> fields = schedulable(info);
    Json schema{{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
    for (const std::string& field : fields) schema["properties"][field] = info.parameters["properties"][field];

    for (std::size_t i = 0; i < groups->size(); ++i) {
      const Json& group = (*groups)[i];
      const std::string pointer = child_pointer(at("groups"), i);
      const Json* const match = find_member(group, "match");
      const Json* const with = find_member(group, "with");
      if (match == nullptr || !match->is_string() || with == nullptr || !with->is_object()) continue;
      each_.node.groups.push_back({match->get<std::string>(), *with});
      Json checked = *with;
      for (const auto& [key, value] : with->items()) {
        if (!has_parameter(info, key) || schema["properties"].contains(key)) continue;
        Diagnostic diagnostic =
            draft_.at_key(pointer + "/with" + child_pointer("", key), "not-schedulable",
                          fmt::format("{} of {} is the same for all groups", core::quoted(key), info.id()));
        diagnostic.label = fmt::format("set it in \"with\" of {}", core::quoted(each_.node.name));
        diagnostic.notes.push_back(fmt::format("a group may set: {}", list_names(fields)));
        draft_.add(std::move(diagnostic));
        checked.erase(key);
      }
      Diagnostics found;
      const CheckContext context{info.id(), "parameter", pointer + "/with",
                                 [&](std::string_view place) { return draft_.resolved.locate(place); }};
      check_value(checked, schema, context, found);
      draft_.append(found);
    }
  }

  Draft& draft_;
  NodeId id_;
  DraftNode& each_;
  Referrer referrer_;
};

}  // namespace

void link_nodes(Draft& draft) {
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    DraftNode& each = draft.nodes[id];
    if (each.node.kind.empty() || !each.json->is_object()) continue;
    Linker(draft, id).link();
  }
}

}  // namespace tenon::core
