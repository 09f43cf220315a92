// Compares plugins, components and ports.
#include <core/plugin/compatibility.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/value_type.hpp>

namespace tenon::core {
namespace {

using Changes = std::vector<PluginChange>;

std::string name_of(const Port& port) { return port.open ? "open" : port.pass ? "pass" : port.name; }

std::string rule_of(const Port& port) {
  if (port.open) return "fields that are known only once a run is planned";
  if (port.pass) {
    return port.except.empty() ? "all fields of the input"
                               : fmt::format("all fields of the input but {}", fmt::join(port.except, ", "));
  }
  std::string text = describe_rule(port, Json::object());
  if (port.same_shape) text += " shaped as the input";
  for (const auto& [word, value] : {std::pair("in the units of", port.like), std::pair("scoring", port.classes),
                                    std::pair("copying", port.copies)}) {
    if (!value.empty()) text += fmt::format(" {} {}", word, value);
  }
  return text;
}

const Port* find_port(const std::vector<Port>& ports, const std::string& name) {
  const auto found = std::ranges::find(ports, name, name_of);
  return found == ports.end() ? nullptr : &*found;
}

/// Whether an input takes every type that it took; an output gives the first of its list.
bool takes_more(const Port& old, const Port& now) {
  if (now.dtypes.empty()) return true;
  return !old.dtypes.empty() && std::ranges::all_of(old.dtypes, [&](Dtype dtype) {
    return std::ranges::find(now.dtypes, dtype) != now.dtypes.end();
  });
}

bool same_but_types(Port old, const Port& now) {
  old.dtypes = now.dtypes;
  old.optional = now.optional;
  return rule_of(old) == rule_of(now);
}

struct Component {
  const ComponentInfo& old;
  const ComponentInfo& now;
  Changes& changes;

  void add(Effect effect, std::string place, std::string text) const {
    changes.push_back({effect, old.id(), std::move(place), std::move(text)});
  }

  void inputs() const {
    for (const Port& before : old.ports.in) {
      const std::string place = "input " + name_of(before);
      const Port* const after = find_port(now.ports.in, name_of(before));
      if (after == nullptr) {
        add(Effect::kBreaking, place, "it is gone");
        continue;
      }
      if (before.optional && !after->optional) add(Effect::kBreaking, place, "it could be left out and must be wired");
      if (!before.optional && after->optional) add(Effect::kCompatible, place, "it may be left out now");
      if (rule_of(before) == rule_of(*after)) continue;
      const bool wider = same_but_types(before, *after) && takes_more(before, *after);
      add(wider ? Effect::kCompatible : Effect::kBreaking, place,
          fmt::format("it took {} and takes {}", rule_of(before), rule_of(*after)));
    }
    for (const Port& after : now.ports.in) {
      if (find_port(old.ports.in, name_of(after)) != nullptr) continue;
      add(after.optional ? Effect::kCompatible : Effect::kBreaking, "input " + name_of(after),
          after.optional ? "it is new and may be left out" : "it is new and must be wired");
    }
  }

  void outputs() const {
    for (const Port& before : old.ports.out) {
      const Port* const after = find_port(now.ports.out, name_of(before));
      if (after == nullptr) {
        add(Effect::kBreaking, "output " + name_of(before), "it is gone");
      } else if (rule_of(before) != rule_of(*after)) {
        add(Effect::kBreaking, "output " + name_of(before),
            fmt::format("it gave {} and gives {}", rule_of(before), rule_of(*after)));
      }
    }
    for (const Port& after : now.ports.out) {
      if (find_port(old.ports.out, name_of(after)) == nullptr) {
        add(Effect::kCompatible, "output " + name_of(after), "it is new");
      }
    }
  }

  void words(std::string_view place, const std::vector<std::string>& before, const std::vector<std::string>& after,
             Effect gone, Effect fresh) const {
    const auto has = [](const std::vector<std::string>& list, const std::string& word) {
      return std::ranges::find(list, word) != list.end();
    };
    for (const std::string& word : before) {
      if (!has(after, word)) add(gone, fmt::format("{} {}", place, word), "it is gone");
    }
    for (const std::string& word : after) {
      if (!has(before, word)) add(fresh, fmt::format("{} {}", place, word), "it is new");
    }
  }

  void traits() const {
    for (const std::string& trait : old.traits) {
      if (now.has_trait(trait)) continue;
      add(trait == "deterministic" ? Effect::kBreaking : Effect::kCompatible, "trait " + trait, "it is gone");
    }
    for (const std::string& trait : now.traits) {
      if (old.has_trait(trait)) continue;
      add(trait == "deterministic" ? Effect::kCompatible : Effect::kBreaking, "trait " + trait, "it is new");
    }
  }

  void metrics() const {
    for (const MetricOutput& before : old.metrics) {
      const auto after = std::ranges::find(now.metrics, before.name, &MetricOutput::name);
      if (after == now.metrics.end()) {
        add(Effect::kBreaking, "value " + before.name, "it is gone");
      } else if (after->direction != before.direction) {
        add(Effect::kBreaking, "value " + before.name, "the direction in which it gets better is turned round");
      }
    }
    for (const MetricOutput& after : now.metrics) {
      if (std::ranges::find(old.metrics, after.name, &MetricOutput::name) == old.metrics.end()) {
        add(Effect::kCompatible, "value " + after.name, "it is new");
      }
    }
    if (!old.metrics.empty() && !now.metrics.empty() && old.metrics.front().name != now.metrics.front().name) {
      add(Effect::kBreaking, "value " + old.metrics.front().name,
          fmt::format("a reference without a name meant it and means {} now", now.metrics.front().name));
    }
  }

  void compare() const {
    if (old.revision != now.revision) {
      add(Effect::kBreaking, "interface",
          fmt::format("it was {} revision {} and is revision {}: it needs a Tenon of that revision", old.interface,
                      old.revision, now.revision));
    }
    if (old.summary != now.summary) add(Effect::kCompatible, "summary", "it is described otherwise");
    const Changes parameters = compare_parameters(old.parameters, now.parameters, old.id());
    changes.insert(changes.end(), parameters.begin(), parameters.end());
    inputs();
    outputs();
    metrics();
    traits();
    words("ability", old.abilities, now.abilities, Effect::kBreaking, Effect::kCompatible);
  }
};

void compare_whole(const PluginInfo& old, const PluginInfo& now, Changes& changes) {
  const auto add = [&](Effect effect, std::string_view place, std::string text) {
    changes.push_back({effect, "", std::string(place), std::move(text)});
  };
  if (old.id != now.id) add(Effect::kBreaking, "id", fmt::format("it was {} and is {}", old.id, now.id));
  if (old.api != now.api) {
    add(Effect::kBreaking, "api", fmt::format("it was {} and is {}: it needs a Tenon of that API", old.api, now.api));
  }
  if (old.fingerprint != now.fingerprint) {
    add(Effect::kCompatible, "fingerprint", fmt::format("it was {} and is {}", old.fingerprint, now.fingerprint));
  }
  if (old.licence != now.licence) {
    add(Effect::kCompatible, "licence", fmt::format("it was {} and is {}", old.licence, now.licence));
  }
  if (old.namespaces != now.namespaces) {
    add(Effect::kCompatible, "torch namespaces",
        fmt::format("they were [{}] and are [{}]", fmt::join(old.namespaces, ", "), fmt::join(now.namespaces, ", ")));
  }
}

/// "1.2.3" as numbers; 0 for what is missing.
std::array<int, 3> version_numbers(std::string_view text) {
  std::array<int, 3> numbers{};
  for (int& number : numbers) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(std::min(static_cast<std::size_t>(end - text.data()) + 1, text.size()));
  }
  return numbers;
}

}  // namespace

std::string_view to_string(Effect effect) noexcept {
  switch (effect) {
    case Effect::kBreaking: return "breaking";
    case Effect::kResults: return "results";
    case Effect::kCompatible: return "compatible";
  }
  return "";
}

std::vector<PluginChange> compare_plugins(const PluginInfo& old, const PluginInfo& now) {
  Changes changes;
  compare_whole(old, now, changes);
  std::set<std::string> ids;
  for (const PluginInfo* const plugin : {&old, &now}) {
    for (const ComponentInfo& component : plugin->components) ids.insert(component.id());
  }
  for (const std::string& id : ids) {
    const std::size_t colon = id.find(':');
    const ComponentInfo* const before = old.find(id.substr(0, colon), id.substr(colon + 1));
    const ComponentInfo* const after = now.find(id.substr(0, colon), id.substr(colon + 1));
    if (after == nullptr) {
      changes.push_back({Effect::kBreaking, id, "", "it is gone"});
    } else if (before == nullptr) {
      changes.push_back({Effect::kCompatible, id, "", "it is new"});
    } else {
      Component{*before, *after, changes}.compare();
    }
  }
  return changes;
}

std::string missing_version_step(const PluginInfo& old, const PluginInfo& now,
                                 const std::vector<PluginChange>& changes) {
  const std::array<int, 3> before = version_numbers(old.version);
  const std::array<int, 3> after = version_numbers(now.version);
  const auto has = [&](Effect effect) {
    return std::ranges::find(changes, effect, &PluginChange::effect) != changes.end();
  };
  const auto grew = [&](std::size_t part) {
    return std::lexicographical_compare(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(part) + 1,
                                        after.begin(), after.begin() + static_cast<std::ptrdiff_t>(part) + 1);
  };
  if (has(Effect::kBreaking)) return before[0] == 0 ? (grew(1) ? "" : "minor") : (grew(0) ? "" : "major");
  if (has(Effect::kResults)) return grew(1) ? "" : "minor";
  return {};
}

}  // namespace tenon::core
