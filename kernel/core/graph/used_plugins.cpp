// Visits nodes, what is attached, and components within parameters.
#include <core/graph/used_plugins.hpp>

#include <map>
#include <utility>

#include <core/json/pointer.hpp>
#include <core/schema/annotations.hpp>

namespace tenon::core {
namespace {

class Collection {
 public:
  explicit Collection(const Catalogue& catalogue) : catalogue_(catalogue) {}

  void add(const ComponentInfo& component, const Json& with, const std::string& pointer) {
    const PluginInfo& plugin = catalogue_.plugin_of(component);
    if (!plugin.built_in()) found_.try_emplace(plugin.id, UsedPlugin{&plugin, pointer});
    for (const NestedPlace& place : nested_places(with, component.parameters)) {
      const Json* const inner = find_value(with, place.pointer + "/with");
      add(catalogue_.at(place.use), inner == nullptr ? Json::object() : *inner, pointer);
    }
  }

  /// What the kernel takes of its own accord, where it is installed.
  void add_implied(const char* id) {
    const ComponentInfo* const component = catalogue_.find(id);
    if (component != nullptr) add(*component, Json::object(), "/run");
  }

  [[nodiscard]] std::vector<UsedPlugin> all() && {
    std::vector<UsedPlugin> plugins;
    for (auto& [id, used] : found_) plugins.push_back(std::move(used));
    return plugins;
  }

 private:
  const Catalogue& catalogue_;
  std::map<std::string, UsedPlugin> found_;
};

}  // namespace

std::vector<UsedPlugin> used_plugins(const Graph& graph, const Catalogue& catalogue) {
  Collection collection(catalogue);
  for (const Node& node : graph.nodes) collection.add(*node.info, node.with, node.pointer);
  for (const std::vector<Attached>* const list : {&graph.stop, &graph.observe}) {
    for (const Attached& each : *list) collection.add(*each.info, each.with, each.pointer);
  }
  if (graph.find(graph.run.distributed) == nullptr) collection.add_implied(kOneProcess);
  if (!graph.fit.precision) collection.add_implied(kFullPrecision);
  return std::move(collection).all();
}

}  // namespace tenon::core
