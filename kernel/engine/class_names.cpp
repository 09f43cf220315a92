// Asking for class names, and keeping them.
#include <engine/class_names.hpp>

#include <set>

#include <core/json/scalars.hpp>
#include <engine/streams.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::engine {
namespace {

/// Those that the streams of training and validation read, directly or through others.
std::set<std::string> trained_datasets(const core::Graph& graph) {
  std::set<std::string> names;
  for (const core::Path* const path : graph.streams()) {
    if (path->name != "test" && path->name != "predict") names.merge(datasets_of(graph, *path));
  }
  return names;
}

}  // namespace

std::optional<std::vector<std::string>> class_names(const Components& components, std::string_view node,
                                                    std::string_view field) {
  return components.entering(node, "categories", "cannot tell its categories", [&] {
    void* const ability = components.component(node).ability(Categorical::kAbility);
    std::optional<std::vector<std::string>> names;
    if (ability == nullptr) return names;
    names = static_cast<Categorical*>(ability)->categories(field);
    if (!names && components.graph().at(node).kind == "dataset") names.emplace();
    return names;
  });
}

core::Json trained_class_names(const Components& components) {
  core::Json all = core::Json::object();
  for (const std::string& name : trained_datasets(components.graph())) {
    if (!components.graph().at(name).info->has_ability(Categorical::kAbility)) continue;
    for (const FieldSpec& field : components.node<Dataset>(name).spec()) {
      const auto names = class_names(components, name, field.name);
      for (const std::string& text : names.value_or(std::vector<std::string>())) {
        all[name][field.name].push_back(core::as_utf8(text));  // a folder's name may be any bytes
      }
    }
  }
  return all;
}

std::vector<std::string> class_names(const core::Checkpoint& checkpoint, const std::string& node,
                                     const std::string& field) {
  const core::Json state = checkpoint.json("state");
  const core::Json::json_pointer place = core::Json::json_pointer() / "categories" / node / field;
  return state.value(place, std::vector<std::string>());
}

}  // namespace tenon::engine
