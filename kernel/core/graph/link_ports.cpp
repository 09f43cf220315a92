// The step plane: a tensor for each port.
#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include <core/graph/linker.hpp>
#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

class PortLinker final : Linker {
 public:
  using Linker::Linker;

  void link() {
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

 private:
  [[nodiscard]] std::vector<std::string> names(const std::vector<NamedPort>& ports) const {
    std::vector<std::string> all;
    std::transform(ports.begin(), ports.end(), std::back_inserter(all),
                   [](const NamedPort& port) { return port.name; });
    return all;
  }

  [[nodiscard]] std::string port_note() const {
    std::vector<std::string> texts;
    for (const NamedPort& port : each_.in) {
      texts.push_back(fmt::format("{} {}{}", port.name, describe_rule(*port.rule, each_.parameters),
                                  port.rule->optional ? " (optional)" : ""));
    }
    return fmt::format("ports: {}", list_names(texts));
  }

  void check_required(const Json* in, const std::vector<std::string>& meant) {
    if (draft_.may_hide_keys(each_.node.pointer)) return;
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
    const auto known =
        std::find_if(each_.in.begin(), each_.in.end(), [&](const NamedPort& port) { return port.name == key; });
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
    if (!check_output(wire, node, *found)) return false;
    each_.feeds.push_back(*found);
    return true;
  }

  std::optional<NodeId> find_source(const DraftWire& wire, const std::string& source) {
    const auto known = draft_.index.find(source);
    if (known == draft_.index.end()) {
      Diagnostic diagnostic =
          draft_.at_value(wire.pointer, "unknown-node", fmt::format("there is no node {}", core::quoted(source)));
      const std::vector<std::string>& candidates = draft_.tensor_sources();
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
      Diagnostic diagnostic =
          draft_.at_value(wire.pointer, "wrong-plane",
                          fmt::format("{} needs a tensor, but {} is {}", referrer_.who, core::quoted(source),
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
      Diagnostic diagnostic =
          draft_.at_value(wire.pointer, "bad-wire",
                          fmt::format("{} names a node, not one of its outputs", core::quoted(node.node.name)));
      if (outputs.size() == 1) draft_.propose(diagnostic, fmt::format("{}.{}", node.node.name, outputs.front()));
      diagnostic.notes.push_back(fmt::format("outputs of {}: {}", draft_.title(id), list_names(outputs)));
      draft_.add(std::move(diagnostic));
      return false;
    }
    if (node.out_open || std::find(outputs.begin(), outputs.end(), wire.wire.output) != outputs.end()) return true;
    Diagnostic diagnostic =
        draft_.at_value(wire.pointer, "unknown-output",
                        fmt::format("{} has no output {}", draft_.title(id), core::quoted(wire.wire.output)));
    const std::optional<std::string> near = draft_.propose_nearest(diagnostic, wire.wire.output, outputs);
    if (near) draft_.propose(diagnostic, fmt::format("{}.{}", node.node.name, *near));
    diagnostic.notes.push_back(fmt::format("outputs: {}", list_names(outputs)));
    draft_.point_at(diagnostic, id, node.node.use());
    draft_.add(std::move(diagnostic));
    if (!near) return false;
    wire.wire.output = *near;
    return true;
  }
};

}  // namespace

void link_ports(Draft& draft, NodeId id) { PortLinker(draft, id).link(); }

}  // namespace tenon::core
