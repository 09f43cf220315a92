// Where this build keeps its plugins.
#include <plugins/support/plugin.hpp>

namespace tenon::test {

Registry plugin(const std::string& name) {
  return Registry::opened(std::string(TENON_BUILD_DIR) + "/lib/tenon/plugins/" + name + ".so");
}

const ComponentDescriptor& descriptor(const std::string& plugin_name, const std::string& name) {
  const Registry components = plugin(plugin_name);
  for (const ComponentDescriptor* const each : components.all()) {
    if (each->name == name) return *each;
  }
  throw Error(ErrorCode::kPlugin, plugin_name + " has no component " + name);
}

}  // namespace tenon::test
