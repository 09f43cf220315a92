// Configuration, environment, lock.
#include <engine/descriptions.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <core/plugin/lock.hpp>
#include <core/storage/canonical_json.hpp>

namespace tenon::engine {
namespace {

core::Json environment_of(const Setup& setup, const core::Json& provenance) {
  core::Json environment;
  environment["format"] = 1;
  environment.update(provenance);
  const std::filesystem::path& folder = *setup.request().resolved.origin("").folder;
  environment["pipeline_folder"] = (std::filesystem::current_path() / folder).lexically_normal().string();
  environment["libtorch_path"] = setup.request().libtorch.libraries.string();
  for (const core::EnvironmentSetting& setting : setup.request().environment) {
    environment["variables"].push_back(
        {{"name", setting.name}, {"value", setting.value.value_or("")}, {"reason", setting.reason}});
  }
  return environment;
}

core::Json lock_of(Setup& setup) {
  std::vector<const core::PluginInfo*> plugins;
  for (const auto& opened : setup.components().loader().opened()) plugins.push_back(&opened->info());
  return core::lock_of(plugins, setup.request().libtorch.version, setup.device().str());
}

void write(const core::RunDirectory& directory, const std::string& stem, const core::Json& content, int64_t step) {
  const std::filesystem::path file = directory.path() / (stem + ".json");
  if (step > 0 && std::filesystem::exists(file)) {
    const core::Json before = core::read_json(file);
    if (before == content) return;
    directory.write_json(fmt::format("{}.until-{:06}.json", stem, step), before);
  }
  directory.write_json(stem + ".json", content);
}

}  // namespace

void write_descriptions(Setup& setup, const core::Json& provenance, const core::RunDirectory& directory, int64_t step) {
  write(directory, "config.resolved", setup.graph().resolved, step);
  write(directory, "environment", environment_of(setup, provenance), step);
  write(directory, "lock", lock_of(setup), step);
}

}  // namespace tenon::engine
