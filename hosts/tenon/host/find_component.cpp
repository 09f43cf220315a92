// Full names first, then bare ones.
#include <host/find_component.hpp>

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/text/suggest.hpp>
#include <tenon/error.hpp>

namespace tenon::host {
namespace {

std::string bare(const std::string& id) { return id.substr(id.find(':') + 1); }

bool means(const std::string& id, const std::string& name) { return id == name || bare(id) == name; }

/// The component of that full or bare name, or nullptr. \throws Error (kConfig) where several kinds have it.
const core::ComponentInfo* search(const core::Catalogue& catalogue, const std::string& name) {
  if (const core::ComponentInfo* const found = catalogue.find(name)) return found;
  std::vector<std::string> meant;
  for (std::string& id : catalogue.ids()) {
    if (bare(id) == name) meant.push_back(std::move(id));
  }
  if (meant.size() > 1) {
    throw Error(ErrorCode::kConfig,
                fmt::format("{} can mean {}; give one of them", core::quoted(name), fmt::join(meant, ", ")));
  }
  return meant.empty() ? nullptr : catalogue.find(meant.front());
}

/// A name that is not installed: refused, misspelt or unheard of. `nouns` and `others` say what else it could have been.
[[noreturn]] void refuse(const core::Catalogue& catalogue, const std::string& name, std::string_view nouns,
                         const std::vector<std::string>& others) {
  for (const core::RefusedPlugin& refused : catalogue.refused()) {
    if (!others.empty() && refused.id == name) {
      throw Error(ErrorCode::kPlugin,
                  fmt::format("plugin {} ({}) is refused: {}", name, refused.path.string(), refused.message));
    }
    for (const std::string& id : refused.components) {
      if (means(id, name)) (void)catalogue.at(id);  // throws with the plugin's reason
    }
  }
  std::vector<std::string> candidates = others;
  for (std::string& id : catalogue.ids()) {
    candidates.push_back(bare(id));
    candidates.push_back(std::move(id));
  }
  const std::string hint = core::did_you_mean(name, candidates);
  throw Error(ErrorCode::kConfig, fmt::format("there is no {} {}; {}", nouns, core::quoted(name),
                                              hint.empty() ? "tenon plugins list tells what there is" : hint));
}

}  // namespace

const core::ComponentInfo& find_component(const core::Catalogue& catalogue, const std::string& name) {
  const core::ComponentInfo* const found = search(catalogue, name);
  if (found == nullptr) refuse(catalogue, name, "component", {});
  return *found;
}

Installed find_installed(const core::Catalogue& catalogue, const std::string& name) {
  if (const core::PluginInfo* const plugin = catalogue.plugin(name)) return {*plugin, nullptr};
  if (const core::ComponentInfo* const found = search(catalogue, name)) return {catalogue.plugin_of(*found), found};
  std::vector<std::string> plugins;
  for (const core::PluginInfo& plugin : catalogue.plugins()) plugins.push_back(plugin.id);
  refuse(catalogue, name, "component or plugin", plugins);
}

}  // namespace tenon::host
