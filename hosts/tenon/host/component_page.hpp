// A component's and a plugin's page, made from the manifest alone.
#pragma once

#include <string>
#include <vector>

#include <core/json/json.hpp>
#include <core/plugin/manifest.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// Summary, plugin, traits, ports, parameters in the order of their declaration, and a snippet to paste.
[[nodiscard]] std::string component_page(const core::ComponentInfo& component, const core::PluginInfo& plugin,
                                         const Console& console);

/// The same as JSON: the manifest's entry with the plugin's facts.
[[nodiscard]] core::Json component_json(const core::ComponentInfo& component, const core::PluginInfo& plugin);

/// Id, version, licence, file, fingerprint, libraries, components.
[[nodiscard]] std::string plugin_page(const core::PluginInfo& plugin, const Console& console);

[[nodiscard]] core::Json plugin_json(const core::PluginInfo& plugin);

/// Lines that use the component in a pipeline, valid JSON between the braces of the object that they name. Required
/// parameters have a value of the right type; references are to be put right by hand.
[[nodiscard]] std::string snippet(const core::ComponentInfo& component);

/// The values of a metric for people: "accuracy (more is better)".
[[nodiscard]] std::vector<std::string> metric_values(const core::ComponentInfo& component);

/// A port rule for people: "logits: float[N, C, *]", "all fields of the input but \"mask\"".
[[nodiscard]] std::string describe_port(const Port& port);

}  // namespace tenon::host
