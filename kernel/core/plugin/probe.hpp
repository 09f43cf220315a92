// Opens plugins that were never opened before in a child process, so that what ends a process ends that one.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <core/plugin/manifest.hpp>
#include <core/plugin/runtime.hpp>
#include <core/plugin/search_path.hpp>
#include <core/plugin/verdicts.hpp>

namespace tenon::core {

struct ProbeOptions {
  std::filesystem::path program = install_library_folder() / "tenon/tenon-probe";
  std::filesystem::path cache = cache_folder() / "verdicts";
  std::chrono::milliseconds limit = std::chrono::seconds(20);            ///< For each plugin.
  std::chrono::milliseconds libtorch_limit = std::chrono::seconds(180);  ///< For libtorch itself, from a slow disk.
  std::function<bool()> cancelled;  ///< Asked while children run; "true" ends them without a verdict.
};

/// A plugin's verdict, and whether it was found now or kept from before.
struct ProbedPlugin {
  const PluginInfo* plugin = nullptr;
  Verdict verdict;
  bool kept = false;  ///< From an earlier time, with this very build.
};

/// A bad verdict's message, and since when it is known where it was kept.
[[nodiscard]] std::string told(const ProbedPlugin& probed);

/// A verdict for each plugin, in their order: kept ones cost the reading of a small file; the others are opened in one
/// child, each on its own after one that failed. The child opens libtorch where one of them is over it, then each
/// plugin, asks for its entry and lets each component describe itself; what of the process is changed by that (see
/// ProcessState) is held against the plugin. Only who wants this calls it: opening plugins by a Loader starts no child.
/// \throws Refusal ("no-probe", "libtorch", those of open_library) where the child program or libtorch cannot be used;
/// Error (kStorage) where no child can be started or no scratch folder made.
[[nodiscard]] std::vector<ProbedPlugin> probe_plugins(std::span<const PluginInfo* const> plugins,
                                                      const std::optional<Libtorch>& libtorch,
                                                      const ProbeOptions& options = {});

}  // namespace tenon::core
