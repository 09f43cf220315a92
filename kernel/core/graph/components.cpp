// From `use` to a component.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <core/graph/linker.hpp>
#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/plugin/interfaces.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

std::vector<std::string> names_of_kind(const Catalogue& catalogue, std::string_view kind) {
  std::vector<std::string> names;
  for (const ComponentInfo* const component : catalogue.of_kind(kind)) names.push_back(component->name);
  return names;
}

std::vector<std::string> known_kinds() {
  std::vector<std::string> kinds;
  for (const InterfaceInfo& each : interfaces()) kinds.emplace_back(each.kind);
  return kinds;
}

/// "kind:name" of the components of other kinds that have this very name.
std::vector<std::string> namesakes(const Catalogue& catalogue, std::string_view name) {
  std::vector<std::string> ids;
  for (const std::string& id : catalogue.ids()) {
    if (id.substr(id.find(':') + 1) == name) ids.push_back(id);
  }
  return ids;
}

void report_refused(Draft& draft, std::string_view pointer, const std::string& use) {
  Diagnostic diagnostic =
      draft.at_value(pointer, "refused-plugin", fmt::format("the plugin that brings {} cannot be used", use));
  diagnostic.notes.push_back(draft.catalogue.why_missing(use));
  diagnostic.error_code = ErrorCode::kPlugin;
  draft.add(std::move(diagnostic));
}

void warn_shadowed(Draft& draft, std::string_view pointer, const ComponentInfo& component) {
  const RefusedPlugin* const shadowed = draft.catalogue.refused_with(component.id());
  if (shadowed == nullptr) return;
  Diagnostic diagnostic =
      draft.at_value(pointer, "shadowed-plugin",
                     fmt::format("{} is taken from plugin {}, since another that brings it is refused", component.id(),
                                 component.plugin));
  diagnostic.severity = Severity::kWarning;
  diagnostic.notes.push_back(fmt::format("{}: {}", shadowed->path.string(), shadowed->message));
  draft.add(std::move(diagnostic));
}

/// Reports a `use` that nothing brings.
void report_unknown(Draft& draft, std::string_view pointer, const std::string& use, std::string_view only,
                    std::string& meant_kind) {
  const std::size_t colon = use.find(':');
  const std::string kind = use.substr(0, colon);
  const std::string name = colon == std::string::npos ? use : use.substr(colon + 1);
  const std::vector<std::string> kinds = known_kinds();
  const bool kind_known = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  const std::vector<std::string> same_name = namesakes(draft.catalogue, name);

  if (colon == std::string::npos) {
    Diagnostic diagnostic =
        draft.at_value(pointer, "unknown-component", fmt::format("{} is not of the form kind:name", core::quoted(use)));
    if (same_name.size() == 1) draft.propose(diagnostic, same_name.front());
    draft.add(std::move(diagnostic));
    return;
  }
  if (!kind_known) {
    Diagnostic diagnostic = draft.at_value(pointer, "unknown-component",
                                           fmt::format("there is no kind {} of component", core::quoted(kind)));
    const std::optional<std::string> near = nearest(kind, kinds);
    if (near && draft.catalogue.find(*near, name) != nullptr) {
      draft.propose(diagnostic, fmt::format("{}:{}", *near, name));
    } else {
      draft.propose_nearest(diagnostic, use, draft.catalogue.ids());
    }
    if (near) meant_kind = *near;
    diagnostic.notes.push_back(fmt::format("kinds: {}", list_names(kinds)));
    draft.add(std::move(diagnostic));
    return;
  }

  meant_kind = kind;
  const std::vector<std::string> names = names_of_kind(draft.catalogue, kind);
  Diagnostic diagnostic =
      draft.at_value(pointer, "unknown-component", fmt::format("there is no {} {}", kind, core::quoted(name)));
  if (!same_name.empty() && only.empty()) {
    const std::string other = same_name.front().substr(0, same_name.front().find(':'));
    diagnostic.message += fmt::format(", but {} {}", with_article(other), core::quoted(name));
    draft.propose(diagnostic, same_name.front());
    meant_kind.clear();
  } else {
    std::vector<std::string> ids;
    std::transform(names.begin(), names.end(), std::back_inserter(ids),
                   [&](const std::string& each) { return fmt::format("{}:{}", kind, each); });
    // Compared by name, proposed as a whole.
    if (const std::optional<std::string> near = nearest(name, names)) {
      draft.propose(diagnostic, fmt::format("{}:{}", kind, *near));
    } else {
      draft.propose_nearest(diagnostic, use, ids);
    }
  }
  diagnostic.notes.push_back(names.empty() ? fmt::format("no plugin brings {}", with_article(kind))
                                           : fmt::format("{}: {}", plural(kind), list_names(names)));
  draft.add(std::move(diagnostic));
}

void expand_ports(const std::vector<Port>& rules, const Json& with, std::vector<NamedPort>& ports, bool& open) {
  for (const Port& rule : rules) {
    if (rule.open) {
      open = true;
    } else if (rule.pass) {
      ports.push_back({"", &rule});
    } else {
      const std::vector<std::string> names = port_names(rule, with);
      if (names.empty() && !names_no_port(rule, with)) open = true;
      for (const std::string& name : names) {
        if (!name.empty()) ports.push_back({name, &rule});
      }
    }
  }
}

/// Reports the parameters that name a field or a port and are empty, but for those that are so by default: "" is none.
/// True when there are any: then nobody knows what the component takes or gives.
bool refuse_empty_names(Draft& draft, const DraftNode& each, const std::vector<Port>& rules) {
  bool found = false;
  for (const Port& rule : rules) {
    if (!rule.name.starts_with('$')) continue;
    const std::string name = rule.name.substr(1);
    const Json* const value = find_member(each.parameters, name);
    const Json* const fallback =
        find_value(each.node.info->parameters, "/properties" + child_pointer("", name) + "/default");
    const std::string pointer = child_pointer(each.node.pointer + "/with", name);
    if (value == nullptr || (fallback != nullptr && *value == *fallback)) continue;
    for (const auto& [place, text] : texts_at(*value, pointer)) {
      if (!text.empty()) continue;
      found = true;
      if (draft.has_error_under(place)) continue;
      Diagnostic diagnostic =
          draft.at_value(place, "bad-length",
                         fmt::format("{}: {} must not be empty", each.node.use(),
                                     dotted_path(std::string_view{place}.substr(each.node.pointer.size() + 5))));
      diagnostic.label = fmt::format("write the name of a {}", is_data_kind(each.node.kind) ? "field" : "port");
      draft.add(std::move(diagnostic));
    }
  }
  return found;
}

/// The parameters that are surely meant so: without errors of their own, and no defaults where a misspelt key may have been
/// about them.
Json reliable(const Draft& draft, const Node& node) {
  const std::string pointer = node.pointer + "/with";
  if (!draft.has_error_under(pointer)) return node.with;
  const Json* const properties = find_member(node.info->parameters, "properties");
  bool misspelt = false;
  for (const auto& [name, value] : node.with.items()) {
    misspelt = misspelt || properties == nullptr || !properties->contains(name);
  }
  Json sure = Json::object();
  for (const auto& [name, value] : node.with.items()) {
    const std::string place = child_pointer(pointer, name);
    const bool is_default = draft.resolved.origin(place).kind == LayerKind::kDefault;
    if (!draft.has_error_under(place) && !(misspelt && is_default)) append_member(sure, name, value);
  }
  return sure;
}

/// What is read of a node before defaults are filled in.
struct Entry {
  std::string name;
  std::string use;  ///< Empty when there is none, which the schema of the pipeline has told.
  bool disabled = false;
  bool has_parameters = false;
};

std::vector<Entry> read_entries(const Json& section) {
  std::vector<Entry> entries;
  for (const auto& [name, value] : section.items()) {
    Entry entry;
    entry.name = name;
    const Json* const use = find_member(value, "use");
    const Json* const disabled = find_member(value, "disabled");
    if (use != nullptr && use->is_string()) entry.use = use->get<std::string>();
    entry.disabled = disabled != nullptr && disabled->is_boolean() && disabled->get<bool>();
    entry.has_parameters = find_member(value, "with") != nullptr;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

void read_node(Draft& draft, DraftNode& each, const Entry& entry) {
  Node& node = each.node;
  node.name = entry.name;
  node.pointer = child_pointer("/nodes", entry.name);
  each.disabled = entry.disabled;
  if (entry.use.empty()) return;

  const std::string pointer = node.pointer + "/use";
  const ComponentInfo* const info = find_component(draft, pointer, entry.use, "", "", node.kind);
  if (info == nullptr) return;
  node.kind = info->kind;
  node.component = info->name;
  node.info = info;
  if (info->kind == "observer") {
    Diagnostic diagnostic =
        draft.at_value(pointer, "misplaced-component",
                       fmt::format("an observer is not a node, but {} is one", core::quoted(node.name)));
    diagnostic.label = "observers stand in \"stop\" or \"observe\"";
    draft.add(std::move(diagnostic));
    node.kind.clear();
    return;
  }
  each.known = true;
  take_parameters(draft, node.pointer + "/with", entry.has_parameters, *info);
  each.in_open = each.out_open = info->ports.in.empty() && info->ports.out.empty();
}

}  // namespace

const ComponentInfo* find_component(Draft& draft, std::string_view pointer, const std::string& use,
                                    std::string_view only, std::string_view who, std::string& meant_kind) {
  const ComponentInfo* const found = draft.catalogue.find(use);
  if (found == nullptr) {
    if (draft.catalogue.refused_with(use) != nullptr) {
      meant_kind = use.substr(0, use.find(':'));
      report_refused(draft, pointer, use);
    } else {
      report_unknown(draft, pointer, use, only, meant_kind);
    }
    return nullptr;
  }
  meant_kind = found->kind;
  if (only.empty() || found->kind == only) {
    warn_shadowed(draft, pointer, *found);
    return found;
  }
  Diagnostic diagnostic =
      draft.at_value(pointer, "wrong-kind",
                     fmt::format("{} takes {}, but {} is {}", who, plural(only), use, with_article(found->kind)));
  diagnostic.notes.push_back(fmt::format("{}: {}", plural(only), list_names(names_of_kind(draft.catalogue, only))));
  draft.add(std::move(diagnostic));
  return nullptr;
}

void read_nodes(Draft& draft) {
  const Json* const section = draft.resolved.find("/nodes");
  if (section == nullptr || !section->is_object()) return;
  const std::vector<Entry> entries = read_entries(*section);
  draft.nodes.resize(entries.size());
  for (NodeId id = 0; id < entries.size(); ++id) {
    draft.index.emplace(entries[id].name, id);
    read_node(draft, draft.nodes[id], entries[id]);
  }

  // Defaults are in: from here on the pipeline's values stay where they are.
  for (const auto& [name, value] : draft.resolved.find("/nodes")->items()) {
    DraftNode& each = draft.nodes[draft.index.at(name)];
    each.json = &value;
    if (!each.known) continue;
    const Json* const with = find_member(value, "with");
    each.node.with = with == nullptr || !with->is_object() ? Json::object() : *with;
    each.parameters = reliable(draft, each.node);
    expand_ports(each.node.info->ports.in, each.parameters, each.in, each.in_open);
    expand_ports(each.node.info->ports.out, each.parameters, each.out, each.out_open);
    if (refuse_empty_names(draft, each, each.node.info->ports.in)) each.in_open = true;
    if (refuse_empty_names(draft, each, each.node.info->ports.out)) each.out_open = true;
  }
}

}  // namespace tenon::core
