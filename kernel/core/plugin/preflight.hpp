// What would go wrong when a plugin is opened, found without opening it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <core/plugin/dependencies.hpp>
#include <core/plugin/manifest.hpp>
#include <core/plugin/runtime.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

/// One thing to be said about a plugin's file.
struct PluginFinding {
  Severity severity = Severity::kError;
  std::string code;     ///< For tools: "missing-library", "missing-symbol", …
  std::string message;  ///< For people: what, where, and the cure. Does not name the plugin.
};

/// Whether plugins can be opened beside what a run has in its process: this program, libtorch and the engine. Plain
/// reads of files alone; tables of libraries are kept, so that the second plugin costs little. One thread at a time.
///
/// Codes of errors: missing-library, unusable-library, missing-version, missing-symbol, second-libtorch,
/// interposed-symbols, no-entry, executable-stack, text-relocations, no-nodelete, and those of Refusal for a file that
/// cannot be read. Codes of warnings: second-copy, extra-exports.
class Preflight {
 public:
  /// `libtorch`: the one that runs will open; without one, what needs it is left unjudged. `cuda`: so will be its half
  /// for GPUs.
  explicit Preflight(std::optional<Libtorch> libtorch, bool cuda = false);

  /// For tests: beside these libraries alone.
  explicit Preflight(LibraryMap libraries) : libraries_(std::move(libraries)) {}

  [[nodiscard]] std::vector<PluginFinding> examine(const PluginInfo& plugin);

  /// What libtorch and the engine themselves lack.
  [[nodiscard]] std::span<const PluginFinding> host() const noexcept { return host_; }

 private:
  LibraryMap libraries_;
  std::optional<Libtorch> libtorch_;
  std::vector<PluginFinding> host_;
};

/// The libtorch of this installation, or nothing where there is none that fits.
[[nodiscard]] std::optional<Libtorch> usable_libtorch() noexcept;

}  // namespace tenon::core
