// Reference pages in Markdown, made from manifests alone.
#pragma once

#include <map>
#include <string>

#include <core/plugin/catalogue.hpp>

namespace tenon::host {

/// A component under a heading of the second level: summary, facts, ports, parameters as a table, a snippet to paste.
[[nodiscard]] std::string component_markdown(const core::ComponentInfo& component);

/// A plugin under a heading of the first level: what it is, a table of its components, and the page of each. Nothing in
/// it depends on the machine: the same plugin gives the same text everywhere.
[[nodiscard]] std::string plugin_markdown(const core::PluginInfo& plugin);

/// The pages of all plugins by file name, "org.tenon.losses.md", and "README.md", which lists all components by kind.
[[nodiscard]] std::map<std::string, std::string> reference_pages(const core::Catalogue& catalogue);

}  // namespace tenon::host
