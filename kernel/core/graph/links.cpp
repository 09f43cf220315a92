// Follows the references of each node, by its kind.
#include <fmt/format.h>

#include <core/graph/linker.hpp>
#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>

namespace tenon::core {
namespace {

/// Keys that nodes of this kind do not have.
class KeyCheck final : Linker {
 public:
  using Linker::Linker;

  void run() {
    const std::string& kind = each_.node.kind;
    const bool attached = kind == "optimizer" || kind == "schedule" || kind == "exporter";
    const bool reads = is_data_kind(kind) || is_step_kind(kind);
    refuse("in", reads, attached ? "\"of\" names what it is attached to" : "");
    refuse("of", attached, reads ? "\"in\" names where its inputs come from" : "");
    refuse("groups", kind == "optimizer", "only an optimizer has groups");
    refuse("field", kind == "schedule", "only a schedule has a field");
    refuse("frozen", kind == "model", "only a model can be frozen");
    refuse("load", kind == "model", "only a model loads its first values");
  }

 private:
  void refuse(std::string_view key, bool allowed, std::string fix) {
    if (allowed || member(key) == nullptr) return;
    Diagnostic diagnostic =
        draft_.at_key(at(key), "misplaced-key", fmt::format("{} takes no \"{}\"", referrer_.who, key));
    diagnostic.label = std::move(fix);
    draft_.add(std::move(diagnostic));
  }
};

}  // namespace

Linker::Linker(Draft& draft, NodeId id)
    : draft_(draft), id_(id), each_(draft.nodes[id]), referrer_{draft.title(id), each_.disabled} {}

const Json* Linker::member(std::string_view key) const { return find_member(*each_.json, key); }

std::string Linker::at(std::string_view key) const { return child_pointer(each_.node.pointer, key); }

void Linker::missing(std::string_view key, std::string message, std::string label) {
  if (draft_.may_hide_keys(each_.node.pointer) || draft_.has_error_under(at(key))) return;
  Diagnostic diagnostic = draft_.resolved.error_at_missing(each_.node.pointer, key, "missing-key", std::move(message));
  if (diagnostic.label.empty()) {
    draft_.propose_lower_node(diagnostic, id_, label);
    if (diagnostic.label.empty()) diagnostic.label = std::move(label);
  }
  draft_.add(std::move(diagnostic));
}

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

void link_nodes(Draft& draft) {
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    const DraftNode& each = draft.nodes[id];
    const std::string& kind = each.node.kind;
    if (kind.empty() || !each.json->is_object()) continue;
    if (!each.owner) KeyCheck(draft, id).run();
    if (is_data_kind(kind)) link_stream(draft, id);
    if (is_step_kind(kind)) link_ports(draft, id);
    if (kind == "optimizer" || kind == "schedule" || kind == "exporter") link_targets(draft, id);
  }
}

}  // namespace tenon::core
