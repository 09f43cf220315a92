// What changed between two builds of a plugin, and whether pipelines of the old one still work with the new one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <core/plugin/manifest.hpp>

namespace tenon::core {

/// What a change means for a pipeline that uses the old plugin.
enum class Effect {
  kBreaking,    ///< Some pipeline that was right is refused, or a checkpoint cannot be gone on from.
  kResults,     ///< Every pipeline is still taken, but some gives other numbers.
  kCompatible,  ///< Neither; something is new, wider, or told otherwise.
};

[[nodiscard]] std::string_view to_string(Effect effect) noexcept;

struct PluginChange {
  Effect effect = Effect::kCompatible;
  std::string component;  ///< "loss:bce"; empty for what concerns the whole plugin.
  std::string place;      ///< "parameter pos_weight", "input target", "trait"; empty for the component itself.
  std::string text;       ///< "its least value rose from 0 to 1".
};

/// All changes from `old` to `now`, those of the plugin first, then component by component in the order of their names.
/// Two equal manifests have none. Pure.
[[nodiscard]] std::vector<PluginChange> compare_plugins(const PluginInfo& old, const PluginInfo& now);

/// What of "1.2.3" must have grown for these changes, by semantic versioning: "major" for a breaking change (below 1.0.0
/// "minor"), "minor" for new results or abilities; empty where `now`'s version says enough.
[[nodiscard]] std::string missing_version_step(const PluginInfo& old, const PluginInfo& now,
                                               const std::vector<PluginChange>& changes);

/// What changed in the schema of a component's parameters.
[[nodiscard]] std::vector<PluginChange> compare_parameters(const Json& old, const Json& now,
                                                           const std::string& component);

}  // namespace tenon::core
