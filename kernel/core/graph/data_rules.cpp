// Rules of the data plane beyond types: who may learn from data, and parameters that nodes must agree on.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::core {
namespace {

/// What learns from data learns from those of training alone; elsewhere the same is used through a call.
void check_fitted(Draft& draft) {
  if (!draft.fit || !draft.fit->end || !draft.links_are_whole()) return;
  const std::vector<NodeId>& stream = draft.fit->stream;
  std::vector<bool> in_fit(draft.nodes.size(), false);
  std::vector<std::string> names;
  for (const NodeId id : stream) {
    in_fit[id] = true;
    names.push_back(draft.nodes[id].node.name);
  }
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    const DraftNode& each = draft.nodes[id];
    const bool learns = each.node.kind == "transform" && each.known && each.node.info->has_ability(Fitted::kAbility);
    if (!learns || each.owner || each.disabled || !each.reached || in_fit[id]) continue;
    const auto twin = std::find_if(stream.begin(), stream.end(), [&](NodeId other) {
      return draft.nodes[other].node.info == each.node.info && !draft.nodes[other].owner;
    });
    Diagnostic diagnostic =
        draft.at_value(each.node.pointer + "/use", "fitted-elsewhere",
                       fmt::format("{} learns from data, but is not in the stream of \"fit.data\"", draft.title(id)));
    if (twin == stream.end()) {
      diagnostic.label = "put it there, and call it here: { \"call\": \"…\", \"in\": … }";
    } else {
      diagnostic.label = fmt::format("write {{ \"call\": {}, \"in\": … }}", core::quoted(draft.nodes[*twin].node.name));
      draft.point_at(diagnostic, *twin, "learns from the data of fit");
    }
    diagnostic.notes.push_back(fmt::format("the stream of \"fit.data\": {}", list_names(names)));
    draft.add(std::move(diagnostic));
  }
}

/// Parameters whose value must be the same in all nodes of the component over the same inputs.
std::vector<std::string> agreeing(const ComponentInfo& info) {
  std::vector<std::string> names;
  const Json* const properties = find_member(info.parameters, "properties");
  if (properties == nullptr) return names;
  for (const auto& [name, schema] : properties->items()) {
    if (schema.value("x-agree", false)) names.push_back(name);
  }
  return names;
}

void compare(Draft& draft, NodeId first, NodeId second, const std::string& name) {
  const Node& one = draft.nodes[first].node;
  const Node& other = draft.nodes[second].node;
  const Json* const before = find_member(one.with, name);
  const Json* const after = find_member(other.with, name);
  if (before == nullptr || after == nullptr || *before == *after) return;
  const std::string there = one.pointer + "/with" + child_pointer("", name);
  const std::string here = other.pointer + "/with" + child_pointer("", name);
  if (draft.has_error_under(there) || draft.has_error_under(here)) return;
  Diagnostic diagnostic = draft.at_value(here, "must-agree",
                                         fmt::format("{} of {} must be that of {}, which reads the same",
                                                     core::quoted(name), draft.title(second), core::quoted(one.name)));
  diagnostic.label = fmt::format("{} there", before->dump(-1, ' ', false, Json::error_handler_t::replace));
  const Located place = draft.resolved.locate(there);
  diagnostic.secondary.push_back({place.exact || !place.key ? place.value : place.key, "of the other one"});
  draft.add(std::move(diagnostic));
}

void check_agreement(Draft& draft) {
  std::unordered_map<const ComponentInfo*, std::vector<std::string>> parameters;
  std::unordered_map<std::string, NodeId> firsts;
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    const DraftNode& each = draft.nodes[id];
    if (!each.known || each.owner || each.disabled || each.node.inputs.empty()) continue;
    const auto [known, added] = parameters.try_emplace(each.node.info);
    if (added) known->second = agreeing(*each.node.info);
    if (known->second.empty()) continue;
    std::string key = each.node.info->id();
    for (const std::string& input : each.node.inputs) key += " " + input;
    const auto [first, is_first] = firsts.try_emplace(std::move(key), id);
    if (is_first) continue;
    for (const std::string& name : known->second) compare(draft, first->second, id, name);
  }
}

}  // namespace

void check_data_rules(Draft& draft) {
  check_fitted(draft);
  check_agreement(draft);
}

}  // namespace tenon::core
