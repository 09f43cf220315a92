// The installed component or plugin that a user's word means.
#pragma once

#include <string>

#include <core/plugin/catalogue.hpp>

namespace tenon::host {

/// By "kind:name", or by a name that one kind alone has. \throws Error: kPlugin where only a refused plugin brings it;
/// kConfig where several kinds or none has it, with what was meant.
[[nodiscard]] const core::ComponentInfo& find_component(const core::Catalogue& catalogue, const std::string& name);

/// A plugin, and the component of it that was named, or nullptr where the plugin was.
struct Installed {
  const core::PluginInfo& plugin;
  const core::ComponentInfo* component;
};

/// By a plugin's id, or else as find_component() does, with the same errors.
[[nodiscard]] Installed find_installed(const core::Catalogue& catalogue, const std::string& name);

}  // namespace tenon::host
