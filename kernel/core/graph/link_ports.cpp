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
      const std::string& object = in == nullptr ? each_.node.pointer : at("in");
      Diagnostic diagnostic =
          draft_.resolved.error_at_missing(object, in == nullptr ? "in" : port.name, "unwired-port", message);
      if (diagnostic.label.empty()) diagnostic.label = fmt::format("add \"{}\": \"node.output\"", port.name);
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
      const std::optional<std::string> near = draft_.propose_nearest(diagnostic, key, names_of(each_.in));
      if (near) meant.push_back(*near);
      diagnostic.notes.push_back(port_note());
      draft_.add(std::move(diagnostic));
      return;
    }
    if (!value.is_string()) return;
    if (!follow_wire(draft_, referrer_, wire, value.get<std::string>())) return;
    if (wire.source) each_.feeds.push_back(*wire.source);
    each_.wires.push_back(std::move(wire));
  }
};

}  // namespace

void link_ports(Draft& draft, NodeId id) { PortLinker(draft, id).link(); }

}  // namespace tenon::core
