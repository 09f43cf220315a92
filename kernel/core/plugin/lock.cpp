// A plugin is known by id, version, build id and the hash of its file.
#include <core/plugin/lock.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/sha256.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

Json entry_of(const PluginInfo& plugin) {
  return {{"id", plugin.id},
          {"version", plugin.version},
          {"build_id", plugin.build_id},
          {"fingerprint", plugin.fingerprint},
          {"sha256", sha256_file(plugin.path)}};
}

std::string text(const Json& entry, const char* key) { return entry.at(key).get<std::string>(); }

/// "0.2.0 (build 5f0c…)": long enough to tell two builds apart.
std::string build_of(const Json& entry) {
  const std::string build = text(entry, "build_id");
  return fmt::format("{} ({})", text(entry, "version"),
                     build.empty() ? "sha256 " + text(entry, "sha256").substr(0, 12) : "build " + build.substr(0, 12));
}

std::string drift_of(const Json& locked, const PluginInfo& plugin) {
  const Json now = entry_of(plugin);
  if (now == locked) return {};
  std::string was = build_of(locked);
  std::string is = build_of(now);
  if (was == is) {
    was = "sha256 " + text(locked, "sha256").substr(0, 12);
    is = "sha256 " + text(now, "sha256").substr(0, 12);
  }
  return fmt::format("plugin {} is locked as {}, but {} is {}", plugin.id, was, plugin.path.string(), is);
}

bool is_entry(const Json& entry) {
  return entry.is_object() &&
         std::ranges::all_of(std::array{"id", "version", "build_id", "fingerprint", "sha256"}, [&](const char* key) {
           const Json* const value = find_member(entry, key);
           return value != nullptr && value->is_string();
         });
}

}  // namespace

Json lock_of(std::span<const PluginInfo* const> plugins, const std::string& libtorch, const std::string& device) {
  Json lock{{"format", 1}, {"libtorch", libtorch}, {"device", device}, {"plugins", Json::array()}};
  for (const PluginInfo* const plugin : plugins) lock["plugins"].push_back(entry_of(*plugin));
  return lock;
}

Json read_lock(const std::filesystem::path& file) {
  std::error_code ignored;
  const fs::path path = fs::is_directory(file, ignored) ? file / "lock.json" : file;
  Json lock = read_json(path, ErrorCode::kConfig);
  const Json* const plugins = find_member(lock, "plugins");
  const Json* const format = find_member(lock, "format");
  const Json* const libtorch = find_member(lock, "libtorch");
  const bool whole = format != nullptr && *format == 1 && libtorch != nullptr && libtorch->is_string() &&
                     plugins != nullptr && plugins->is_array() && std::ranges::all_of(*plugins, is_entry);
  if (!whole) {
    throw Error(ErrorCode::kConfig,
                fmt::format("{} is no lock file of format 1: take the lock.json of a run", path.string()));
  }
  return lock;
}

std::vector<std::string> lock_drift(const Json& lock, std::span<const PluginInfo* const> plugins,
                                    const std::string& libtorch) {
  std::vector<std::string> drift;
  for (const PluginInfo* const plugin : plugins) {
    const auto locked =
        std::ranges::find_if(lock.at("plugins"), [&](const Json& each) { return each.at("id") == plugin->id; });
    if (locked == lock.at("plugins").end()) {
      drift.push_back(fmt::format("plugin {} {} is not in the lock", plugin->id, plugin->version));
    } else if (std::string text = drift_of(*locked, *plugin); !text.empty()) {
      drift.push_back(std::move(text));
    }
  }
  if (const std::string locked = text(lock, "libtorch"); locked != libtorch) {
    drift.push_back(fmt::format("libtorch is locked as {}, but here it is {}", locked, libtorch));
  }
  return drift;
}

}  // namespace tenon::core
