// Lock files: exactly which plugins a run had, and whether those at hand are the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <core/json/json.hpp>
#include <core/plugin/manifest.hpp>

namespace tenon::core {

/// The content of lock.json (schemas/lock-1.schema.json) for these plugins, in their order. Reads each file once.
/// \throws Error (kStorage) for a file that cannot be read.
[[nodiscard]] Json lock_of(std::span<const PluginInfo* const> plugins, const std::string& libtorch,
                           const std::string& device);

/// A lock file, or lock.json of a run's folder. \throws Error (kConfig) for what is none, naming file and place.
[[nodiscard]] Json read_lock(const std::filesystem::path& file);

/// A sentence for each plugin that the lock does not have, or has in another version or build, with both sides, and for
/// another version of libtorch; empty when all is as locked. Plugins of the lock that are not asked for do not count,
/// and neither does the device.
[[nodiscard]] std::vector<std::string> lock_drift(const Json& lock, std::span<const PluginInfo* const> plugins,
                                                  const std::string& libtorch);

}  // namespace tenon::core
