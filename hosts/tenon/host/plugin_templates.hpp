// Plugins to start from, one for each kind of component, compiled into the program from sdk/templates/plugins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::host {

/// A kind that there is a template for.
struct PluginKind {
  std::string_view name;     ///< "transform"
  std::string_view summary;  ///< "A transform makes a sample of a sample, on a loader thread"
  bool cuda = false;         ///< There is a variant with sources for CUDA.
};

/// In the order in which lists show kinds.
[[nodiscard]] std::vector<PluginKind> plugin_kinds();

/// What a new plugin is to be.
struct NewPlugin {
  std::string kind;  ///< One of plugin_kinds().
  std::string name;  ///< Of the component, the library and the files: one without a fault.
  std::string id;    ///< "org.example.cutout"
  bool cuda = false;
};

struct PluginFile {
  std::string path;  ///< Below the plugin's folder.
  std::string text;
};

/// All files of the plugin, by path. In the templates the component is called my_KIND, its class MyKind and the plugin
/// org.example.my_KIND; in the files that all kinds share, KIND is the word "kind". These words are replaced, in texts
/// and paths.
[[nodiscard]] std::vector<PluginFile> files_of(const NewPlugin& plugin);

/// Why a plugin cannot be called so, with the cure; empty when it can.
[[nodiscard]] std::string fault_of_plugin_name(const std::string& name);

}  // namespace tenon::host
