// Plugins that are part of the running program: no file is opened for them, and they may know the program's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <core/plugin/manifest.hpp>
#include <tenon/registration.hpp>

namespace tenon::core {

/// As ComponentDescriptor::create, but may hold something. [trainer]
using CreateComponent = std::function<Component*(const char* params, const ErrorSink& sink)>;

/// A component as the program declares it.
struct LinkedEntry {
  std::string description;  ///< What ComponentDescriptor::describe gives.
  const char* interface;    ///< Like `destroy`, as long as the process lives.
  uint32_t revision;
  void (*destroy)(Component*, const ErrorSink&) noexcept;
  CreateComponent create;
};

/// The components of such a plugin by "kind:name". Immutable; lives as long as a PluginInfo of it.
struct LinkedPlugin {
  struct Component {
    std::string name;
    ComponentDescriptor descriptor;  ///< Without describe and create.
    CreateComponent create;
  };
  std::map<std::string, Component, std::less<>> components;
};

/// The plugin as the catalogue takes it. Its `path` is the file of the program or shared library that holds the first
/// component's code. \throws Refusal as parse_manifest does.
[[nodiscard]] PluginInfo linked_plugin(const std::string& id, const std::string& version,
                                       const std::vector<LinkedEntry>& entries);

}  // namespace tenon::core
