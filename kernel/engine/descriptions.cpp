// Configuration, environment, lock.
#include <engine/descriptions.hpp>

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include <core/storage/canonical_json.hpp>
#include <core/storage/sha256.hpp>

namespace tenon::engine {
namespace {

core::Json environment_of(const Setup& setup, const core::Json& provenance) {
  core::Json environment;
  environment["format"] = 1;
  environment.update(provenance);
  environment["libtorch_path"] = setup.request().libtorch.libraries.string();
  for (const core::EnvironmentSetting& setting : setup.request().environment) {
    environment["variables"].push_back(
        {{"name", setting.name}, {"value", setting.value.value_or("")}, {"reason", setting.reason}});
  }
  return environment;
}

core::Json lock_of(Setup& setup) {
  core::Json lock;
  lock["format"] = 1;
  lock["libtorch"] = setup.request().libtorch.version;
  lock["device"] = setup.device().str();
  for (const auto& opened : setup.components().loader().opened()) {
    const core::PluginInfo& info = opened->info();
    lock["plugins"].push_back({{"id", info.id},
                               {"version", info.version},
                               {"build_id", info.build_id},
                               {"fingerprint", info.fingerprint},
                               {"sha256", core::sha256_file(info.path)}});
  }
  return lock;
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
