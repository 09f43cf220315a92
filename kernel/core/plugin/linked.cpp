// From declarations to a manifest, and to the file that they were compiled into.
#include <core/plugin/linked.hpp>

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include <core/plugin/elf.hpp>
#include <core/plugin/fingerprint.hpp>
#include <core/plugin/refusal.hpp>

namespace tenon::core {
namespace {

/// The file that holds an address; the program's own where the loader does not know better.
std::filesystem::path file_of(const void* address) {
  Dl_info info = {};
  void* map = nullptr;
  const bool known = ::dladdr1(address, &info, &map, RTLD_DL_LINKMAP) != 0 && map != nullptr;
  const char* const name = known ? static_cast<const link_map*>(map)->l_name : "";
  std::error_code ignored;
  return std::filesystem::canonical(*name == '\0' ? "/proc/self/exe" : name, ignored);
}

std::string build_id_of(const std::filesystem::path& file) {
  try {
    return ElfFile(file).build_id();
  } catch (const Refusal&) {
    return {};  // as for a file without one
  }
}

}  // namespace

PluginInfo linked_plugin(const std::string& id, const std::string& version, const std::vector<LinkedEntry>& entries) {
  Json manifest{{"manifest", 1},
                {"id", id},
                {"version", version},
                {"licence", "LicenseRef-of-the-program"},
                {"api", kApi},
                {"fingerprint", host_fingerprint()},
                {"namespaces", Json::array()},
                {"components", Json::array()}};
  for (const LinkedEntry& entry : entries) manifest["components"].push_back(manifest_json(entry.description));
  PluginInfo plugin = parse_manifest(manifest);
  auto linked = std::make_shared<LinkedPlugin>();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ComponentInfo& info = plugin.components[i];
    LinkedPlugin::Component& component = linked->components[info.id()];
    component.name = info.name;
    component.create = entries[i].create;
    component.descriptor = {sizeof(ComponentDescriptor),
                            entries[i].interface,
                            entries[i].revision,
                            component.name.c_str(),
                            "",
                            nullptr,
                            nullptr,
                            entries[i].destroy};
  }
  plugin.linked = std::move(linked);
  if (!entries.empty()) plugin.path = file_of(reinterpret_cast<const void*>(entries.front().destroy));
  if (plugin.path.empty()) plugin.path = "/proc/self/exe";
  plugin.build_id = build_id_of(plugin.path);
  return plugin;
}

}  // namespace tenon::core
