// Where a tensor comes from: "node.output" or "batch.field".
#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include <core/graph/linker.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

class SourceLinker {
 public:
  SourceLinker(Draft& draft, const Referrer& referrer, DraftWire& wire)
      : draft_(draft), referrer_(referrer), wire_(wire) {}

  bool follow(const std::string& text) {
    const std::size_t dot = text.find('.');
    const std::string source = text.substr(0, dot);
    wire_.wire.source = source;
    wire_.wire.output = dot == std::string::npos ? "" : text.substr(dot + 1);
    if (source == kBatch) {
      if (!wire_.wire.output.empty()) return true;
      Diagnostic diagnostic =
          draft_.at_value(wire_.pointer, "bad-wire", "\"batch\" alone is no tensor: name one of its fields");
      diagnostic.label = wire_.wire.port.empty() ? "write \"batch.\" and a field"
                                                 : fmt::format("write \"batch.{}\" or another field", wire_.wire.port);
      draft_.add(std::move(diagnostic));
      return false;
    }
    const std::optional<NodeId> found = find(source);
    if (!found) return false;
    wire_.source = found;
    wire_.wire.source = draft_.nodes[*found].node.name;
    return check_output(*found);
  }

 private:
  std::optional<NodeId> find(const std::string& source) {
    const auto known = draft_.index.find(source);
    if (known == draft_.index.end()) {
      Diagnostic diagnostic =
          draft_.at_value(wire_.pointer, "unknown-node", fmt::format("there is no node {}", core::quoted(source)));
      const std::vector<std::string>& candidates = draft_.tensor_sources();
      const std::string rest = wire_.wire.output.empty() ? "" : "." + wire_.wire.output;
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
          draft_.at_value(wire_.pointer, "wrong-plane",
                          fmt::format("{} needs a tensor, but {} is {}", referrer_.who, core::quoted(source),
                                      is_data_kind(kind) ? "a stream" : with_article(kind)));
      if (is_data_kind(kind)) {
        if (!wire_.wire.output.empty()) draft_.propose(diagnostic, fmt::format("{}.{}", kBatch, wire_.wire.output));
        diagnostic.notes.emplace_back("\"batch\" is the stream of the path that runs");
      }
      draft_.point_at(diagnostic, known->second, node.node.use());
      draft_.add(std::move(diagnostic));
      return std::nullopt;
    }
    if (node.disabled && !referrer_.disabled) {
      draft_.refuse_disabled(draft_.at_value(wire_.pointer, "", ""), referrer_, known->second);
      return std::nullopt;
    }
    return known->second;
  }

  bool check_output(NodeId id) {
    const DraftNode& node = draft_.nodes[id];
    const std::vector<std::string> outputs = names_of(node.out);
    if (wire_.wire.output.empty()) {
      Diagnostic diagnostic =
          draft_.at_value(wire_.pointer, "bad-wire",
                          fmt::format("{} names a node, not one of its outputs", core::quoted(node.node.name)));
      if (outputs.size() == 1) draft_.propose(diagnostic, fmt::format("{}.{}", node.node.name, outputs.front()));
      diagnostic.notes.push_back(fmt::format("outputs of {}: {}", draft_.title(id), list_names(outputs)));
      draft_.add(std::move(diagnostic));
      return false;
    }
    if (node.out_open || std::find(outputs.begin(), outputs.end(), wire_.wire.output) != outputs.end()) return true;
    Diagnostic diagnostic =
        draft_.at_value(wire_.pointer, "unknown-output",
                        fmt::format("{} has no output {}", draft_.title(id), core::quoted(wire_.wire.output)));
    const std::optional<std::string> near = draft_.propose_nearest(diagnostic, wire_.wire.output, outputs);
    if (near) draft_.propose(diagnostic, fmt::format("{}.{}", node.node.name, *near));
    diagnostic.notes.push_back(fmt::format("outputs: {}", list_names(outputs)));
    draft_.point_at(diagnostic, id, node.node.use());
    draft_.add(std::move(diagnostic));
    if (!near) return false;
    wire_.wire.output = *near;
    return true;
  }

  Draft& draft_;
  const Referrer& referrer_;
  DraftWire& wire_;
};

}  // namespace

std::vector<std::string> names_of(const std::vector<NamedPort>& ports) {
  std::vector<std::string> all;
  std::transform(ports.begin(), ports.end(), std::back_inserter(all), [](const NamedPort& port) { return port.name; });
  return all;
}

bool follow_wire(Draft& draft, const Referrer& referrer, DraftWire& wire, const std::string& text) {
  return SourceLinker(draft, referrer, wire).follow(text);
}

}  // namespace tenon::core
