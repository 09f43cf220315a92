// What first opening of plugins in a child process showed, kept by the build of plugin and host.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <core/plugin/manifest.hpp>
#include <core/plugin/runtime.hpp>

namespace tenon::core {

/// Whether a plugin can be opened without harm, and why not.
struct Verdict {
  bool good = true;
  std::string code;     ///< "crashed", "hung", "ended", "changes-process", or a Refusal's reason; empty if good.
  std::string message;  ///< For people, with the cure. Does not name the plugin.
  std::string found;    ///< When, "2026-03-01T12:00:00Z".
};

/// Verdicts in a folder, one small file each: <build id>-<digest of the host's build>.json. A file's time never counts.
/// What cannot be read counts as missing, what cannot be written is not kept: neither is an error. [any thread]
class Verdicts {
 public:
  /// `folder` is made when the first verdict is kept.
  Verdicts(std::filesystem::path folder, const std::optional<Libtorch>& libtorch);

  /// What was found for this build of the plugin beside this build of Tenon and libtorch. Nothing for a plugin without
  /// a build id.
  [[nodiscard]] std::optional<Verdict> of(const PluginInfo& plugin) const;

  void keep(const PluginInfo& plugin, const Verdict& verdict) const noexcept;

  void forget(const PluginInfo& plugin) const noexcept;

 private:
  [[nodiscard]] std::string host_of(const PluginInfo& plugin) const;
  [[nodiscard]] std::filesystem::path file_of(const PluginInfo& plugin) const;

  std::filesystem::path folder_;
  std::string tenon_;
  std::string libtorch_;
};

/// TENON_CACHE, else XDG_CACHE_HOME/tenon, else ~/.cache/tenon.
[[nodiscard]] std::filesystem::path cache_folder();

}  // namespace tenon::core
